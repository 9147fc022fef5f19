"""Every command ends by saying what it made and which command comes next; that command exists."""

import shlex

import pytest
import torch

from counterpoint.cli import main
from counterpoint.cli.last_words import last_words
from counterpoint.cli.parser import make_parser, spelled
from counterpoint.run import Run


def next_commands(said):
    lines = [line for line in said.splitlines() if line.startswith(("next: ", "  or: "))]
    return [shlex.split(line[6:]) for line in lines]


def can_be_typed(words):
    assert words[0] == "counterpoint"
    make_parser(words[1]).parse_args(spelled(words[1:]))
    return True


@pytest.fixture(scope="module")
def photos(data, tmp_path_factory):
    place = tmp_path_factory.mktemp("with labels") / "my photos"
    for kind in ("lotus", "laptop", "ketch"):
        (place / kind).mkdir(parents=True)
        for file in sorted((data / "caltech20" / kind).glob("*.jpg"))[:8]:
            (place / kind / file.name).write_bytes(file.read_bytes())
    return place


def test_a_run_ends_with_evaluate_or_without_labels_with_report(photos, tmp_path, capsys):
    flat = tmp_path / "flat"
    flat.mkdir()
    for number, file in enumerate(sorted(photos.rglob("*.jpg"))):
        (flat / f"{number}.jpg").write_bytes(file.read_bytes())
    asked = ["--method", "simclr-small", "--size", "32", "--batch-size", "8", "--steps", "1"]
    for images, wanted in ((photos, ["evaluate", "report"]), (flat, ["report", "embed"])):
        out = tmp_path / f"run of {images.name}"
        main(["pretrain", str(images), *asked, "--out", str(out)])
        said = capsys.readouterr().out
        assert f"run in {out}" in said
        commands = next_commands(said)
        assert [words[1] for words in commands] == wanted
        assert all(can_be_typed(words) for words in commands)
        assert str(images) in commands[0]
    assert Run.open(tmp_path / "run of flat").embed(torch.zeros(1, 3, 32, 32).byte()).shape[0] == 1


def test_evaluate_report_and_views_end_so_too(photos, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bare = ["--encoder", "small", "--size", "32"]
    main(["evaluate", *bare, "--data", str(photos), "--protocol", "knn", "--out", "kept"])
    commands = next_commands(capsys.readouterr().out)
    assert [words[1] for words in commands] == ["report", "embed"]
    main(["report", "kept", "--data", str(photos)])
    commands += next_commands(capsys.readouterr().out)
    main(["views", str(photos), "--images", "1", "--size", "32"])
    commands += next_commands(capsys.readouterr().out)
    assert [words[1] for words in commands] == ["report", "embed", "embed", "pretrain"]
    assert all(can_be_typed(words) for words in commands)
    main(commands[0][1:])  # what evaluate proposes runs as it is written
    assert (tmp_path / "report.html").is_file()


def test_one_process_of_several_speaks(monkeypatch, capsys):
    monkeypatch.setenv("LOCAL_RANK", "1")
    last_words("a run")
    assert capsys.readouterr().out == ""
    monkeypatch.setenv("LOCAL_RANK", "0")
    last_words("a run", ["counterpoint", "report", "a b"])
    assert capsys.readouterr().out == "a run\nnext: counterpoint report 'a b'\n"
