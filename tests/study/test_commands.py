"""counterpoint study and counterpoint table, as typed."""

import pytest

from counterpoint.cli import main

MINE = """
from counterpoint.study import Images, Trial, seeds

ENCODER = '{"part":"NarrowResNet","widths":[8,16],"blocks":[1,1]}'


def study():
    return seeds(
        Trial(
            name="mine",
            method="simclr-small",
            encoder=ENCODER,
            data="$COUNTERPOINT_DATA/cifar10",
            limit=240,
            budget=Images(64),
            training=(("batch", 32),),
            row="SimCLR",
            column="CIFAR-10",
        ),
        2,
    )
"""


def test_a_study_of_ones_own_and_its_table(data, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COUNTERPOINT_DATA", str(data))
    (tmp_path / "mine.py").write_text(MINE)
    command = ["study", "mine.py", "--out", "results", "--at-once", "1"]
    main([*command, "--plan"])
    assert "2 trials at" in capsys.readouterr().out
    assert not (tmp_path / "results").exists()
    main(command)
    said = capsys.readouterr()
    assert "the study of mine.py, which is run" in said.err
    assert said.err.count(": done") == 2
    assert "| SimCLR |" in said.out
    main(command)
    again = capsys.readouterr()
    assert again.err.count(": done") == 0
    assert again.out == said.out
    main(["table", "results"])
    assert capsys.readouterr().out == said.out
    main(["table", "results", "--format", "svg", "--out", "table.svg"])
    assert (tmp_path / "table.svg").read_text().startswith("<svg")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["study", "table4"], "study: got 'table4'; there are table1"),
        (["study", "no.py"], "study: there is no file no.py"),
        (["table", "nowhere"], "study: nowhere holds no outcomes"),
    ],
)
def test_a_mistake_is_one_line(typed, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=said):
        main(typed)
