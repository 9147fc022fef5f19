"""A user's mistake is one line that says what to do: never a trace, never torch's own words."""

import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from counterpoint import ArraySource, NarrowResNet, Training, pretrain
from counterpoint.cli import main
from counterpoint.cli.commands import COMMANDS
from counterpoint.cli.failing import BUG, for_people
from counterpoint.methods import simclr_small
from counterpoint.version import VERSION

COUNTERPOINT = Path(sys.executable).with_name("counterpoint")


@pytest.fixture(scope="module")
def place(data, tmp_path_factory):
    """A folder with photos without labels, a run, a file and a note."""
    folder = tmp_path_factory.mktemp("place")
    (folder / "unlabelled").mkdir()
    for number, photo in enumerate(sorted((data / "caltech20").glob("*/*.jpg"))[:24]):
        (folder / "unlabelled" / f"{number}.jpg").symlink_to(photo)
    (folder / "file").write_text("no folder\n")
    (folder / "texts").mkdir()
    (folder / "texts" / "note.txt").write_text("no image\n")
    (folder / "broken.json").write_text("{")
    (folder / "broken.yaml").write_text("method: [a, b\n")
    (folder / "bytes.yaml").write_bytes(b"method: \x80\x81")
    (folder / "typo.yaml").write_text("epocs: 3\n")
    images = torch.randint(0, 256, (64, 3, 32, 32), dtype=torch.uint8)
    method = simclr_small(NarrowResNet(widths=(8, 16), blocks=(1, 1)))
    training = Training(batch=32, epochs=1)
    pretrain(method, ArraySource("s", images), out=folder / "run", training=training, health=False)
    return folder


PRETRAIN = "pretrain unlabelled --out out"

TYPED = {  # what is typed: what is said, and the exit code
    "pretrian unlabelled": ("no command 'pretrian'; did you mean pretrain?", 2),
    "--vresion": ("no command '--vresion'", 2),
    "pretrain unlabelled": ("pretrain needs --out; for example: counterpoint pretrain", 2),
    "pretrain": ("pretrain needs DATA and --out", 2),
    "evaluate run": ("evaluate needs --data", 2),
    f"{PRETRAIN} more": ("pretrain does not take 'more'", 2),
    f"{PRETRAIN} --encodr small": ("no option --encodr; did you mean --encoder?", 2),
    f"{PRETRAIN} --batchsize 4": ("no option --batchsize; did you mean --batch-size?", 2),
    f"{PRETRAIN} --epochs": ("--epochs needs a value", 2),
    f"{PRETRAIN} --epochs many": ("--epochs needs a whole number, got 'many'", 2),
    f"{PRETRAIN} --lr fast": ("--lr needs a number, got 'fast'", 2),
    f"{PRETRAIN} --optimiser adamm": ("--optimiser is one of lars, sgd, adam", 2),
    f"{PRETRAIN} --precision 16-mixed": ("fp16 is left out, its range", 2),
    f"{PRETRAIN} --logger tensorbord": ("did you mean tensorboard?", 2),
    f"{PRETRAIN} --config none.yaml": ("--config: File does not exist", 2),
    f"{PRETRAIN} --config broken.yaml": ("config: while parsing", 2),
    f"{PRETRAIN} --config typo.yaml": ("epocs", 2),
    f"{PRETRAIN} --config bytes.yaml": ("--config is not a text file", 2),
    f"{PRETRAIN} --steps 0": ("--steps is 0; it needs to be 1 or more", 1),
    f"{PRETRAIN} --steps -3": ("--steps is -3; it needs to be 1 or more", 1),
    f"{PRETRAIN} --size 0": ("--size is 0; it needs to be 1 or more", 1),
    f"{PRETRAIN} --method simcrl": ("method: got 'simcrl'; did you mean simclr?", 1),
    f"{PRETRAIN} --method none.json": ("method: there is no file none.json", 1),
    f"{PRETRAIN} --method broken.json": ("method: broken.json", 1),
    f"{PRETRAIN} --encoder resnet81": ("encoder: got 'resnet81'; did you mean resnet18?", 1),
    f"{PRETRAIN} --encoder timm/vit_tinny_patch16_224": (
        "timm has no 'vit_tinny_patch16_224'; did you mean vit_tiny_patch16_224",
        1,
    ),
    f"{PRETRAIN} --encoder torchvision/resnet05": ("did you mean resnet50?", 1),
    f"{PRETRAIN} --resume atuo": ("resume: got 'atuo', and there is no such folder; did you", 1),
    f"{PRETRAIN} --known-bad none.jsonl": ("known-bad: there is no file none.jsonl", 1),
    f"{PRETRAIN} --parts none.py": ("parts: there is no file none.py", 1),
    "pretrain unlabelled --out file": ("out: file is a file; needs a folder", 1),
    "pretrain unlabelled --out file/x": ("out: file is a file; needs a folder", 1),
    "pretrain nowhere --out out": ("data: there is no folder nowhere", 1),
    "pretrain texts --out out": ("found note.txt", 1),
    "pretrain file --out out": ("data: got the file file", 1),
    "pretrain s4://bucket/x --out out": (
        "data: got s4://bucket/x; s4:// is not known to fsspec",
        1,
    ),
    "evaluate run --data unlabelled": ("has no labels; put the images into one folder per", 1),
    "evaluate run --data unlabelled --limit 0": ("--limit is 0; it needs to be 1 or more", 1),
    "evaluate run --data unlabelled --labels abc": ("--labels is 'abc'; it needs fractions", 1),
    "evaluate run --data unlabelled --labels 1,2": ("--labels is '1,2'; it needs fractions", 1),
    "embed run unlabelled --out out --map 9": ("got map 9; the encoder has", 1),
    "embed run unlabelled --out out --device tpux": ("device: got 'tpux'; needs one that is", 1),
    "evaluate run --data unlabelled --protocol knnn": ("did you mean knn?", 1),
    "evaluate texts --data unlabelled": ("run: texts has no run.json", 1),
    "report nowhere": ("run: there is no folder nowhere", 1),
    "report texts": ("run: texts has no run.json", 1),
    "views unlabelled --images 0": ("--images is 0; it needs to be 1 or more", 1),
    "views unlabelled --out file/views.png": ("file: ", 1),
    "views unlabelled --out views.xyz": ("--out is 'views.xyz'; it needs the name of an image", 1),
    "anatomy simclr mocco": ("method: got 'mocco'; did you mean moco?", 1),
    "check simclr-smal": ("did you mean simclr-small?", 1),
    "encoders vit_tinny": ("encoder: no timm name contains 'vit_tinny'", 1),
    "study tabel1": ("did you mean table1?", 1),
    "study none.py": ("study: there is no file none.py", 1),
    "table nowhere": ("study: there is no folder nowhere", 1),
    "table texts": ("study: texts holds no outcomes", 1),
    "doctor nowhere": ("data: there is no folder nowhere", 1),
}


@pytest.mark.parametrize("typed", TYPED)
def test_a_mistake_is_one_line(typed, place, monkeypatch, capsys):
    monkeypatch.chdir(place)
    said, code = TYPED[typed]
    with pytest.raises(SystemExit) as stop:
        main(typed.split())
    words = stop.value.code if isinstance(stop.value.code, str) else capsys.readouterr().err
    assert said in words
    assert words.startswith("counterpoint: ")
    assert len(words.strip().splitlines()) == 1, words
    assert (1 if isinstance(stop.value.code, str) else stop.value.code) == code
    assert BUG not in words


def test_through_the_real_command(place):
    """As typed in a shell: nothing on stdout, one line on stderr, the exit code."""
    for typed in (f"{PRETRAIN} --encodr small", "evaluate run --data unlabelled"):
        done = subprocess.run(
            [COUNTERPOINT, *typed.split()], cwd=place, capture_output=True, text=True
        )
        assert done.stdout == ""
        assert done.stderr.startswith("counterpoint: ")
        assert len(done.stderr.splitlines()) == 1
        assert done.returncode == TYPED[typed][1]


LATE = {  # needs an import: reads the data, a method's JSON or results
    f"{PRETRAIN} --method broken.json",
    "pretrain texts --out out",
    "pretrain file --out out",
    "evaluate run --data unlabelled",
    "embed run unlabelled --out out --map 9",
    "embed run unlabelled --out out --device tpux",
    "views unlabelled --out file/views.png",
    "table texts",
}

EARLY = """
import sys
from counterpoint.cli import main
for typed in sys.stdin.read().splitlines():
    try:
        main(typed.split())
    except SystemExit:
        pass
    print("torch" in sys.modules, typed)
"""


def test_a_wrong_path_name_or_option_costs_no_import_of_torch(place):
    early = [typed for typed in TYPED if typed not in LATE]
    done = subprocess.run(
        [sys.executable, "-c", EARLY],
        input="\n".join(early),
        cwd=place,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == [f"False {typed}" for typed in early]


@pytest.mark.parametrize(
    "typed",
    [
        "pretrain nowhere --out x",
        f"{PRETRAIN} --method simcrl",
        f"{PRETRAIN} --encoder timm/vit_tinny_patch16_224",
        f"{PRETRAIN} --encodr small",
    ],
)
def test_a_mistake_is_answered_in_under_two_seconds(typed, place):
    def once():
        started = time.monotonic()
        subprocess.run([COUNTERPOINT, *typed.split()], cwd=place, capture_output=True)
        return time.monotonic() - started

    assert min(once() for _ in range(3)) < 2.0


def test_an_error_that_is_not_ours_keeps_its_trace(monkeypatch, capsys):
    """torch's ValueErrors are not words for a user."""

    def broken() -> None:
        """Fail inside of torch."""
        torch.cat([])

    monkeypatch.setitem(COMMANDS, "methods", broken)
    with pytest.raises(SystemExit, match=BUG):
        main(["methods"])
    assert "Traceback" in capsys.readouterr().err


def raised(call):
    try:
        call()
    except Exception as error:  # noqa: BLE001 (any)
        return error
    raise AssertionError("nothing was raised")


def test_whose_words_an_error_has():
    from counterpoint.data import open_data

    assert for_people(raised(lambda: open_data("nowhere"))) == "data: there is no folder nowhere"
    assert for_people(raised(lambda: Training(epochs=0))).startswith("training: epochs is 0")
    assert for_people(raised(lambda: float("abc"))) is None
    assert for_people(raised(lambda: torch.zeros(2).view(3))) is None
    assert for_people(raised(lambda: __import__("no_such_package"))).startswith("the package no_")
    assert (
        for_people(raised(lambda: Path("/nowhere").read_text()))
        == "/nowhere: No such file or directory"
    )


def test_version(capsys):
    main(["--version"])
    assert capsys.readouterr().out == f"counterpoint {VERSION}\n"


@pytest.mark.parametrize("typed", [["search", "my $HOME", "a.jpg"], ["curate", "my $HOME"]])
def test_a_command_in_an_error_can_be_pasted(typed, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit, match=r"embed RUN DATA --out 'my \$HOME' writes one"):
        main(typed)
