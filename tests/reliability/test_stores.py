"""Training from shards in an S3 store that fails: the losses of the disk, to the bit."""

import io
import json
import multiprocessing
import os

import pytest
from rich.console import Console

from counterpoint import Training, open_data, pretrain
from counterpoint.data.batches import Batches
from counterpoint.data.stores.retry import StoreFailure
from counterpoint.methods import simclr
from counterpoint.parts.encoders import NarrowResNet
from reliability.jobs import Losses
from shard_folders import make_shards
from stores_server.faults import Faults
from stores_server.store import SECRET

SHARDS, EACH, LANES = 64, 8, 4
RESNET = NarrowResNet(widths=(8, 16), blocks=(1, 1))


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_CACHE", str(tmp_path / "cache"))


@pytest.fixture(scope="module")
def shards(tmp_path_factory):
    folder = tmp_path_factory.mktemp("shards") / "set"
    return make_shards(folder, [EACH] * SHARDS, shape=None)


def train(data, out, *, workers=2, **more):
    """Train for an epoch; give every loss with its samples, and what was set aside."""
    out.mkdir()
    pretrain(
        simclr(RESNET, size=16),
        data,
        out=out,
        size=16,
        training=Training(epochs=1, batch=32, lanes=LANES, block_shards=2),
        workers=workers,
        callbacks=[Losses(out / "losses")],
        console=Console(file=io.StringIO()),
        **more,
    )
    losses = [json.loads(line) for line in (out / "losses").read_text().splitlines()]
    bad = out / "quarantine.jsonl"
    found = [json.loads(line) for line in bad.read_text().splitlines()] if bad.is_file() else []
    return [(r["loss"], r["samples"]) for r in losses], found


def bad_store_trial(s3, shards, tmp_path, capfd, *, stall, outage):
    address = s3.put_folder(shards, f"bad-{stall}")
    near, _ = train(open_data(shards), tmp_path / "near")
    assert len(near) == SHARDS * EACH // 32
    s3.break_it(
        Faults(
            seed=7,
            errors=0.05,
            truncated=0.02,
            stalls=0.02,
            stall_seconds=stall,
            down_after=100,
            down_seconds=outage,
        )
    )
    capfd.readouterr()
    far, bad = train(open_data(address), tmp_path / "far")
    counts = s3.counts()
    said = capfd.readouterr().err
    assert far == near  # every loss, bit for bit, and the order of all samples
    assert bad == []
    for kind in ("error 500", "error 503", "stall", "refused"):
        assert counts[kind] > 0, kind
    assert counts.get("truncated short", 0) + counts.get("truncated cut", 0) > 0
    assert "store   " in said
    assert f"{address}/train-000" in said
    assert "again in" in said
    assert SECRET not in said
    return counts, said


def test_a_bad_store_gives_the_losses_of_the_disk(s3, shards, tmp_path, capfd, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_STORE_TIMEOUT", "2")
    bad_store_trial(s3, shards, tmp_path, capfd, stall=3, outage=6)


@pytest.mark.full
def test_stalls_of_30_s_and_an_outage_of_60_s(s3, shards, tmp_path, capfd):
    counts, said = bad_store_trial(s3, shards, tmp_path, capfd, stall=30, outage=60)
    print(json.dumps({key: value for key, value in counts.items() if key != "keys"}), said)


@pytest.mark.full
def test_a_shard_that_is_gone_is_named_and_others_stand_in(s3, shards, tmp_path, capfd):
    address = s3.put_folder(shards, "gone")
    s3.break_it(Faults(lost=("gone/train-00005.tar",)))
    _, bad = train(open_data(address), tmp_path / "gone")
    assert {(record["sample"], record["kind"]) for record in bad} == {
        (sample, "missing") for sample in range(5 * EACH, 6 * EACH)
    }
    receipt = json.loads((tmp_path / "gone" / "receipts.jsonl").read_text())
    assert receipt["right"]
    assert "8 images cannot be read" in capfd.readouterr().err


@pytest.mark.full
def test_a_store_that_stays_away_ends_the_run_and_no_image_is_blamed(
    s3, shards, tmp_path, monkeypatch
):
    monkeypatch.setenv("COUNTERPOINT_STORE_PATIENCE", "2")
    address = s3.put_folder(shards, "away")
    found = open_data(address)
    s3.down(600)
    with pytest.raises(StoreFailure, match=r"s3://bucket/away/.* failed \d+ times"):
        train(found, tmp_path / "away", workers=0)
    assert not (tmp_path / "away" / "quarantine.jsonl").exists()


def read_epoch(address, rank, ranks, cache):
    os.environ["COUNTERPOINT_CACHE"] = str(cache)
    source = open_data(address).train
    cut = simclr(RESNET, size=16).build(image=(3, 16, 16)).views.cut
    batches = Batches(source, 32, 0, rank, ranks, cut, lanes=8, block_shards=2)
    assert sum(len(batch.index) for batch in batches) == SHARDS * EACH // ranks
    os._exit(0)


def bytes_trial(s3, address, shards, cache, *, ranks, shared):
    """Return bytes over the wire by bytes of the shards, and with their indices."""
    s3.break_it()
    context = multiprocessing.get_context("fork")
    own = [cache / ("all" if shared else str(rank)) for rank in range(ranks)]
    processes = [
        context.Process(target=read_epoch, args=(address, rank, ranks, own[rank]))
        for rank in range(ranks)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
        assert process.exitcode == 0
    keys = s3.counts()["keys"]
    tars = sum(file.stat().st_size for file in shards.glob("*.tar"))
    down = sum(count for key, count in keys.items() if key.endswith(".tar"))
    indices = sum(count for key, count in keys.items() if key.endswith(".idx"))
    own_indices = sum(file.stat().st_size for file in shards.glob("*.idx"))
    assert indices == own_indices
    return down / tars


@pytest.mark.parametrize(("ranks", "shared"), [(4, False)])
def test_every_byte_comes_once(s3, shards, tmp_path, ranks, shared):
    address = s3.put_folder(shards, "once")
    assert bytes_trial(s3, address, shards, tmp_path, ranks=ranks, shared=shared) == 1.0


@pytest.mark.full
@pytest.mark.parametrize("ranks", [1, 2, 4, 8])
@pytest.mark.parametrize("shared", [True, False])
def test_every_byte_comes_once_for_more_ranks(s3, shards, tmp_path, ranks, shared):
    address = s3.put_folder(shards, "once")
    assert bytes_trial(s3, address, shards, tmp_path, ranks=ranks, shared=shared) == 1.0
