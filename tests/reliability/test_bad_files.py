"""One bad file in a hundred: counted exactly, and the others are seen as if it had been known."""

import io
import json
import random
import struct
import zlib

import pyarrow as pa
import pyarrow.parquet as parquet
import pytest
from rich.console import Console

from counterpoint import Training, open_data, pretrain
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.training.callbacks.bad_samples import TooManyBadError
from reliability.jobs import Losses

RESNET = NarrowResNet(widths=(8, 16), blocks=(1, 1))


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def png(width, height):
    """A PNG that claims a size and has no pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IEND", b"")


def spoil(data, kind):
    """Return the bytes of a file that is bad in one way."""
    return {
        "empty": b"",
        "truncated": data[: len(data) // 2],
        "not an image": b"<html><body>404 Not Found</body></html>",
        "no pixels": png(0, 0),
        "too large": png(60_000, 60_000),
    }[kind]


# Pillow refuses a size of nought while it reads the header.
KINDS = {"empty": "empty", "truncated": "truncated", "not an image": "not an image"}
KINDS |= {"no pixels": "not an image", "too large": "too large"}


def train(data, out, *, batch, workers=0, accumulate=1, **more):
    """Train for an epoch; give every loss and what was set aside."""
    method = simclr(RESNET, size=32)
    pretrain(
        method,
        data,
        out=out,
        size=32,
        training=Training(epochs=1, batch=batch, accumulate=accumulate),
        workers=workers,
        callbacks=[Losses(out / "losses")],
        console=Console(file=io.StringIO()),
        **more,
    )
    losses = [json.loads(line) for line in (out / "losses").read_text().splitlines()]
    bad = out / "quarantine.jsonl"
    found = [json.loads(line) for line in bad.read_text().splitlines()] if bad.is_file() else []
    return [(r["loss"], r["samples"]) for r in losses], {r["sample"]: r["kind"] for r in found}


@pytest.fixture(scope="module")
def spoilt(data, tmp_path_factory):
    """A copy of caltech20 without folders in which one file in a hundred is bad."""
    folder = tmp_path_factory.mktemp("spoilt")
    files = sorted((data / "caltech20").glob("*/*.jpg"))
    chosen = random.Random(0).sample(range(len(files)), len(files) // 100)
    kinds = {n: list(KINDS)[place % len(KINDS)] for place, n in enumerate(chosen)}
    for number, file in enumerate(files):
        data = file.read_bytes()
        bytes_ = spoil(data, kinds[number]) if number in kinds else data
        (folder / f"{number:04d}.jpg").write_bytes(bytes_)
    return folder, {number: KINDS[kind] for number, kind in kinds.items()}


def test_one_in_a_hundred_photos_is_bad(spoilt, tmp_path, capsys):
    folder, kinds = spoilt
    for name in ("found", "known"):
        (tmp_path / name).mkdir()
    found = train(open_data(folder), tmp_path / "found", batch=10, workers=2)
    assert found[1] == kinds
    assert len(kinds) == 14
    receipt = json.loads((tmp_path / "found" / "receipts.jsonl").read_text())
    assert receipt["right"]
    assert "14 images cannot be read" in capsys.readouterr().err
    known = train(open_data(folder, known_bad=set(kinds)), tmp_path / "known", batch=10)
    assert known[1] == kinds  # listed from the start, so that the next run knows them too
    assert found[0] == known[0]  # every loss, bit for bit, and the order of all samples


@pytest.mark.parametrize(("batch", "accumulate"), [(10, 1), (30, 15)])
def test_too_many_bad_files_stop_a_run(spoilt, tmp_path, batch, accumulate):
    folder, _ = spoilt
    files = open_data(folder).train
    for place in range(0, 60, 2):
        files.paths[place].write_bytes(b"")
    half = files.subset("half", files.places.new_tensor(range(60)))
    with pytest.raises(TooManyBadError, match=r"files of this epoch cannot be read, more than 10%"):
        train(half, tmp_path, batch=batch, accumulate=accumulate)
    assert not list((tmp_path / "checkpoints").glob("step-*"))


def test_one_in_a_hundred_rows_of_cifar_is_bad(data, tmp_path):
    table = parquet.read_table(data / "cifar10" / "train-00000-of-00001.parquet").slice(0, 2000)
    rows = table.to_pylist()
    chosen = random.Random(1).sample(range(2000), 20)
    for place, number in enumerate(chosen):
        kind = list(KINDS)[place % len(KINDS)]
        rows[number]["img"]["bytes"] = spoil(rows[number]["img"]["bytes"], kind)
    folder = tmp_path / "rows"
    folder.mkdir()
    for split in ("train", "test"):
        spoilt = pa.Table.from_pylist(rows, schema=table.schema)
        parquet.write_table(spoilt, folder / f"{split}-00000-of-00001.parquet")
    found = open_data(folder)
    bad = set(found.train.bad)
    known = open_data(folder, known_bad=bad)
    counts = [len(s.bad) for s in (found.train, found.validation, found.test)]
    assert counts[0] + counts[1] == counts[2] == 20
    for name in ("found", "known"):
        (tmp_path / name).mkdir()
    losses = [train(d, tmp_path / n, batch=50)[0] for d, n in ((found, "found"), (known, "known"))]
    assert losses[0] == losses[1]
