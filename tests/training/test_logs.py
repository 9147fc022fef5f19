"""Logs never stop a run and never refuse a resume."""

import errno
import json

import pytest

from counterpoint import Training, pretrain
from counterpoint.data import ArraySource
from counterpoint.log_lines import Log
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet

RESNET = NarrowResNet(widths=(8, 16), blocks=(1, 1))


def train(images, out, *, steps, **more):
    pretrain(
        simclr(RESNET, size=32),
        ArraySource("cifar10", images),
        out=out,
        training=Training(batch=16, epochs=2),
        resume="auto",
        save_seconds=0.0,
        **more,
    )


class Enough(Exception):  # noqa: N818
    pass


def begun(cifar, out):
    """A run of two epochs that was left after the first, as a kill would leave it."""
    import lightning as L

    class Leave(L.Callback):
        def on_train_epoch_start(self, trainer, pl_module):
            if trainer.current_epoch == 1:
                raise Enough

    images = cifar.train.images[:48]
    with pytest.raises(Enough):
        train(images, out, steps=6, callbacks=[Leave()])
    return images


DAMAGE = {
    "a word for a number": lambda text: text.replace("3", "three"),
    "other bytes": lambda text: text + "\xff\xfe",
    "another type": lambda text: "[1, 2]\n7\nnull\n" + text,
    "nothing right": lambda text: "\0" * 4096 + "\n",
    "deep": lambda text: text + "[" * 100_000 + "\n",
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_log_is_set_aside_and_the_run_goes_on(cifar, tmp_path, capsys, damage):
    images = begun(cifar, tmp_path)
    names = ("metrics.csv", "health.jsonl", "receipts.jsonl")
    for name in names:
        text = (tmp_path / name).read_text()
        (tmp_path / name).write_bytes(DAMAGE[damage](text).encode("latin-1") + b"\n")
    capsys.readouterr()
    train(images, tmp_path, steps=6)
    said = capsys.readouterr().err.splitlines()
    for name in names:
        about = [line for line in said if f"/{name} is damaged" in line]
        assert len(about) == 1, (name, said)
        assert f"it is kept as {name}.damaged-1" in about[0]
        assert (tmp_path / f"{name}.damaged-1").exists()
    receipts = (tmp_path / "receipts.jsonl").read_text().splitlines()
    assert json.loads(receipts[-1])["epoch"] == 1
    assert (tmp_path / "metrics.csv").read_text().startswith("epoch,")
    assert (tmp_path / "run.json").exists()


def test_half_a_line_at_the_end_is_no_damage(tmp_path, capsys):
    file = tmp_path / "log.jsonl"
    file.write_text('{"epoch": 0}\n{"epo')
    assert Log(file).read(json.loads) == [{"epoch": 0}]
    assert capsys.readouterr().err == ""
    assert not list(tmp_path.glob("*.damaged-*"))


def test_what_was_set_aside_is_never_written_over(tmp_path):
    file = tmp_path / "log.jsonl"
    for number in (1, 2):
        file.write_text(f"{number} is no line\n")
        Log(file).read(json.loads)
        assert (tmp_path / f"log.jsonl.damaged-{number}").read_text().startswith(str(number))


def test_a_full_disk_is_said_once_and_the_run_goes_on(cifar, tmp_path, capsys, monkeypatch):
    from counterpoint import log_lines as lines

    def full(self, mode="r", *arguments, **more):
        raise OSError(errno.ENOSPC, "No space left on device")

    class Full(type(tmp_path)):
        open = full

    for log in ("metrics", "health_watch", "ledger"):
        module = __import__(f"counterpoint.training.callbacks.{log}", fromlist=["Log"])
        monkeypatch.setattr(module, "Log", lambda file: lines.Log(Full(file)))
    train(cifar.train.images[:48], tmp_path, steps=6)
    said = capsys.readouterr().err
    for name in ("metrics.csv", "health.jsonl", "receipts.jsonl"):
        assert said.count(f"/{name} (ENOSPC") == 1, said
    assert (tmp_path / "run.json").exists()
