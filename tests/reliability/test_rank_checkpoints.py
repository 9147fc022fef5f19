"""Checkpoints of several real ranks: written by all, read by any number, on a full disk too."""

import signal
import time
from contextlib import suppress

import pytest

from counterpoint.training.checkpoints import Checkpoints
from reliability.jobs import whole_state
from reliability.runs import end_of, losses_of
from reliability.test_kills import storm
from reliability.trials import steps_of, wait_for_step
from training.states import same
from training.traps import small_disk


def run(nursery, folder, ranks, job, **settings):
    started = nursery.start(ranks, folder / "log", job=job, settings=settings)
    assert nursery.wait(started, timeout=120), "hangs"
    said = [(folder / f"log.{rank}").read_text() for rank in range(ranks)]
    assert set(started.codes.values()) == {0}, said


def test_four_ranks_write_and_any_number_reads_to_the_bit(nursery, tmp_path):
    """Each byte is read and hashed by one rank, whatever their number; a process alone too."""
    run(nursery, tmp_path, 4, "save_shares", out=str(tmp_path))
    place = Checkpoints(tmp_path / "run")
    found, wanted = place.load(place.newest()), whole_state()
    assert same(found.pop("bank").own, wanted.pop("bank"))
    assert same(found, wanted)
    assert len(list(place.newest().glob("share-*"))) == 4
    for ranks, mesh in ((2, True), (3, True), (3, False), (4, True)):
        run(nursery, tmp_path, ranks, "load_shares", out=str(tmp_path), mesh=mesh)


def test_a_damaged_share_is_passed_over_by_all_ranks(nursery, tmp_path):
    run(nursery, tmp_path, 3, "save_shares", out=str(tmp_path))
    share = tmp_path / "run/step-00000002/share-00001-of-00003.safetensors"
    data = bytearray(share.read_bytes())
    data[-1] ^= 1
    share.write_bytes(data)
    job = nursery.start(
        2, tmp_path / "log", job="load_shares", settings={"out": str(tmp_path), "mesh": True}
    )
    assert nursery.wait(job, timeout=120)
    said = (tmp_path / "log.0").read_text()
    assert "step-00000002 is damaged (rank 1: share-00001-of-00003.safetensors: sha256" in said
    assert "continuing from step-00000001" in said


def test_on_disks_of_their_own_rank_0_writes_everything(nursery, tmp_path):
    run(nursery, tmp_path, 3, "save_shares", out=str(tmp_path), apart=True)
    place = Checkpoints(tmp_path / "disk-0")
    assert (place.newest() / "state.safetensors").is_file()
    assert same(place.load(place.newest())["sharded"], whole_state()["sharded"])
    assert list((tmp_path / "disk-1").glob("step-*")) == []


def fill(disk):
    """Write until nothing fits, also while somebody else writes and removes files there."""
    with (disk / "ballast").open("wb", buffering=0) as file, suppress(OSError):
        while True:
            file.write(bytes(1 << 16))


def test_a_full_disk_warns_and_the_next_checkpoint_is_tried(nursery, tmp_path):
    """Training continues; with space again the run ends as an undisturbed one, to the bit."""
    with small_disk(tmp_path / "disk", size="64m") as disk:
        for name in ("quiet", "full"):
            (disk / name).mkdir()
        more = {"method": "simclr", "epochs": 4, "save_seconds": 0.0}
        quiet, full = disk / "quiet", disk / "full"
        run(
            nursery, quiet, 2, "train", out=str(quiet / "run"), losses=str(quiet / "losses"), **more
        )
        places = {"out": str(full / "run"), "losses": str(tmp_path / "losses")}
        job = nursery.start(2, tmp_path / "log", job="train", settings=places | more)
        wait_for_step(tmp_path, 3)
        fill(disk)
        done = steps_of(tmp_path, 0)[-1]["step"]
        wait_for_step(tmp_path, done + 5)
        (disk / "ballast").unlink()
        assert nursery.wait(job, timeout=120)
        said = (tmp_path / "log.0").read_text()
        assert set(job.codes.values()) == {0}, said
        assert "training continues, and the next one is tried in its time" in said
        assert losses_of(tmp_path, ranks=2) == losses_of(quiet, ranks=2)
        assert end_of(full / "run")["state"] == end_of(quiet / "run")["state"]


def test_the_last_checkpoint_must_not_fail(nursery, tmp_path):
    """A run that is asked to stop on a full disk does not say that it was saved."""
    with small_disk(tmp_path / "disk", size="8m") as disk:
        places = {"out": str(disk / "run"), "losses": str(tmp_path / "losses")}
        more = {"method": "simclr", "epochs": 200, "save_seconds": 1e9}
        job = nursery.start(2, tmp_path / "log", job="train", settings=places | more)
        wait_for_step(tmp_path, 2)
        fill(disk)
        job.signal(signal.SIGTERM, [1])
        assert nursery.wait(job, timeout=60)
        said = [(tmp_path / f"log.{rank}").read_text() for rank in (0, 1)]
        assert set(job.codes.values()) == {1}, said
        assert all(
            "checkpoint" in words and "no other checkpoint is whole" in words for words in said
        )


def test_a_killed_run_of_sharded_models_with_a_divided_bank_resumes_to_the_bit(nursery, tmp_path):
    sharded = {"strategy": "fsdp2", "bank": True}
    assert storm(nursery, tmp_path, "cmc", kills=2, seed=42, **sharded) == 2


@pytest.mark.full
@pytest.mark.parametrize(
    ("method", "more"),
    [
        ("simclr", {}),
        ("simclr", {"strategy": "fsdp2"}),
        ("cmc", {"bank": True}),
        ("cmc", {"bank": True, "strategy": "fsdp2"}),
    ],
    ids=["ddp", "fsdp2", "ddp, bank", "fsdp2, bank"],
)
def test_fifty_kills_of_two_ranks_resume_to_the_bit(nursery, tmp_path, method, more):
    started = time.monotonic()
    assert storm(nursery, tmp_path, method, kills=50, seed=39, epochs=12, **more) == 50
    print({"kills": 50, "seconds": round(time.monotonic() - started), **more})
