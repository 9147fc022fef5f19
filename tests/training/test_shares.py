"""Checkpoints of several ranks: every byte once, whole or not there, and any number reads them."""

import contextlib
import itertools
import os
import random
import signal
import threading

import pytest
import torch

from counterpoint.training.checkpoints import CheckpointError, Checkpoints, problem
from counterpoint.training.checkpoints.divided_rows import DividedRows, rows_of_rank
from counterpoint.training.checkpoints.manifest import Manifest, Stored
from counterpoint.training.checkpoints.new_checkpoint import NewCheckpoint
from counterpoint.training.checkpoints.rank_shares import own_share
from counterpoint.training.checkpoints.saving import encoded_text
from training.states import random_state, same, state_of
from training.traps import Trap, in_child, small_disk

RANKS = 3


def always(_):
    return True


def nothing():
    pass


def saved(place, step, state, *, ranks=RANKS, killed=nothing):
    """Write a checkpoint as the threads of some ranks do, one after another; rank 0 is last."""
    leaves, text = encoded_text(step, state)
    new = NewCheckpoint.make(place, step, size=len(text), ranks=ranks)
    for rank in [*range(1, ranks), 0]:
        if rank == 0:
            killed()
        there = NewCheckpoint(place, step, new.folder, rank, ranks)
        own = own_share(leaves, rank=rank, ranks=ranks, alike=always)
        stored = there.write_share(own, done=nothing)
    new.finish(stored, text, given_up=threading.Event())


def test_every_byte_is_written_once_whatever_the_state_is():
    chance = random.Random(0)
    for _ in range(40):
        leaves, _ = encoded_text(1, random_state(chance))
        for ranks in (1, 2, 3, 7):
            shares = [own_share(leaves, rank=r, ranks=ranks, alike=always) for r in range(ranks)]
            for name, leaf in leaves.items():
                parts = [share[name] for share in shares if name in share]
                whole = parts[0] if len(parts) == 1 else torch.cat(parts)
                assert same(whole, leaf), name


def test_shares_are_of_about_equal_size():
    chance = random.Random(1)
    leaves = {str(n): torch.zeros(chance.randint(1, 400), 25) for n in range(40)}
    sizes = [
        sum(part.nbytes for part in own_share(leaves, rank=r, ranks=8, alike=always).values())
        for r in range(8)
    ]
    assert max(sizes) - min(sizes) <= 100  # the bytes of a row


def test_what_differs_between_ranks_is_that_of_rank_0():
    leaves = {"running_mean": torch.zeros(1000), "weight": torch.zeros(10)}
    shares = [own_share(leaves, rank=r, ranks=2, alike="weight".__eq__) for r in (0, 1)]
    assert [*shares[0]] == ["running_mean", "weight"]
    assert [*shares[1]] == ["weight"]


@pytest.mark.parametrize("ranks", [1, 2, 5])
def test_one_process_reads_what_several_wrote(tmp_path, ranks):
    place = Checkpoints(tmp_path)
    saved(place, 7, state_of(7), ranks=ranks)
    assert place.newest().name == "step-00000007"
    assert same(place.load(place.newest()), state_of(7))
    files = sorted(file.name for file in place.newest().iterdir())
    shares = [f"share-{rank:05d}-of-{ranks:05d}.safetensors" for rank in range(ranks)]
    tensors = shares if ranks > 1 else ["state.safetensors"]
    assert files == sorted(["manifest.json", "state.json", *tensors])
    assert place.describe(place.newest())["global_step"] == 1007


def test_one_rank_writes_the_bytes_of_format_1(tmp_path):
    saved(Checkpoints(tmp_path / "new"), 7, state_of(7), ranks=1)
    Checkpoints(tmp_path / "old").save(7, state_of(7))
    for name in ("manifest.json", "state.json", "state.safetensors"):
        new, old = (tmp_path / kind / "step-00000007" / name for kind in ("new", "old"))
        assert new.read_bytes() == old.read_bytes()


def test_rows_come_back_in_the_order_of_the_ranks(tmp_path):
    place, bank = Checkpoints(tmp_path), torch.arange(14.0).reshape(7, 2)
    new = NewCheckpoint.make(place, 1, size=1, ranks=4)
    for rank in (3, 2, 1, 0):
        rows = rows_of_rank(7, rank, 4)
        leaves, text = encoded_text(
            1, {"bank": DividedRows(bank[rows.start : rows.stop], rows.start, 7)}
        )
        own = own_share(leaves, rank=rank, ranks=4, alike=always)
        there = NewCheckpoint(place, 1, new.folder, rank, 4)
        stored = there.write_share(own, done=nothing)
    new.finish(stored, text, given_up=threading.Event())
    found = place.load(place.newest())["bank"]
    assert (found.start, found.length) == (0, 7)
    assert torch.equal(found.own, bank)
    with pytest.raises(CheckpointError, match="has 2 of 7 rows on this rank"):
        place.save(2, {"bank": DividedRows(bank[:2], 0, 7)})


@pytest.fixture
def place(tmp_path):
    place = Checkpoints(tmp_path)
    for step in (118, 120):
        saved(place, step, state_of(step))
    return place


def test_damage_of_any_share_is_found(place, capsys):
    chance = random.Random(3)
    files = sorted((place.folder / "step-00000120").iterdir())
    assert len(files) == 2 + RANKS
    for turn in range(100):
        file = chance.choice(files)
        whole = file.read_bytes()
        broken = bytearray(whole)
        if turn % 2:
            broken[chance.randrange(len(whole))] ^= 1 << chance.randrange(8)
        else:
            del broken[chance.randrange(len(whole)) :]
        file.unlink()
        file.write_bytes(broken)
        assert place.newest().name == "step-00000118"
        assert "step-00000120 is damaged (" in capsys.readouterr().err
        file.unlink()
        file.write_bytes(whole)
    assert place.newest().name == "step-00000120"


def test_shares_that_are_missing_swapped_or_of_another_step_are_found(place):
    step, other = place.folder / "step-00000120", place.folder / "step-00000118"
    shares = sorted(step.glob("share-*"))
    for one, two in itertools.permutations(range(RANKS), 2):
        kept = shares[one].read_bytes()
        shares[one].write_bytes(shares[two].read_bytes())
        assert problem(step) is not None
        shares[one].write_bytes(kept)
    for share in shares:
        kept = share.read_bytes()
        share.write_bytes((other / share.name).read_bytes())
        assert problem(step) == f"{share.name}: sha256 differs"
        share.unlink()
        assert "ENOENT" in problem(step)
        share.write_bytes(kept)
    assert problem(step) is None


def test_no_bit_of_a_manifest_of_shares_can_change(place):
    file = place.folder / "step-00000120/manifest.json"
    whole, read = file.read_bytes(), []
    for byte, bit in itertools.product(range(len(whole)), range(8)):
        flipped = bytearray(whole)
        flipped[byte] ^= 1 << bit
        with contextlib.suppress(CheckpointError):
            read.append((Manifest.read(bytes(flipped)), bytes(flipped)))
    # Another size, hash or step reads well, and is not what the files are.
    assert all(manifest != Manifest.read(whole) for manifest, _ in read)
    for _, text in read[::40]:
        file.write_bytes(text)
        assert problem(file.parent) is not None
    for tail in (b" ", b"\n", b"{}"):
        file.write_bytes(whole + tail)
        assert problem(file.parent) is not None


def test_killed_at_every_call_of_rank_0(tmp_path):
    """kill -9 of rank 0 before each call, after the others have written their shares."""
    for at in range(1, 200):
        place = Checkpoints(tmp_path / str(at))
        for earlier in (1, 2):
            saved(place, earlier, state_of(earlier))

        def killed(at=at, place=place):
            with pytest.MonkeyPatch.context() as patched:
                die = lambda _: os.kill(os.getpid(), signal.SIGKILL)  # noqa: E731
                saved(place, 4, state_of(50), killed=lambda: Trap(patched, die, at=at))
            return 0

        code = in_child(killed)
        assert code in (0, -signal.SIGKILL)
        found = place.load(place.newest())
        assert same(found, state_of(2)) or same(found, state_of(50))
        saved(place, 5, state_of(51))
        assert same(place.load(place.newest()), state_of(51))
        assert not list(place.folder.glob(".step*"))
        if code == 0:
            break
    assert 15 < at < 190, at


def test_a_full_disk_is_said_and_keeps_the_one_before(tmp_path):
    with small_disk(tmp_path / "disk", size="2m") as disk:
        place = Checkpoints(disk / "checkpoints")
        saved(place, 1, state_of(1, floats=50_000))
        with pytest.raises(CheckpointError, match=r"ENOSPC.*step-00000001 is kept"):
            saved(place, 2, state_of(2, floats=400_000))
        assert same(place.load(place.newest()), state_of(1, floats=50_000))


def test_an_error_of_another_rank_is_told_by_its_small_file(tmp_path, monkeypatch):
    place = Checkpoints(tmp_path)
    new = NewCheckpoint.make(place, 3, size=1, ranks=2)
    other = NewCheckpoint(place, 3, new.folder, 1, 2)
    with monkeypatch.context() as patched:
        Trap(patched, raises, at=2, only=["write", "fsync"])
        with pytest.raises(CheckpointError, match=r"share-00001-of-00002\.safetensors could not"):
            other.write_share({"a": torch.ones(3)}, done=nothing)
    with pytest.raises(CheckpointError, match=r"rank 1: share-00001.*EIO"):
        new.finish(Stored(1, "a"), b"{}", given_up=threading.Event())
    given_up = threading.Event()
    given_up.set()
    (new.folder / "share-00001-of-00002.json").unlink()
    (new.folder / "state.json").unlink()
    with pytest.raises(CheckpointError, match="the share of rank 1 did not come"):
        new.finish(Stored(1, "a"), b"{}", given_up=given_up)
    assert place.newest() is None


def raises(_):
    raise OSError(5, "Input/output error")


def test_the_hourly_and_the_best_stay(tmp_path):
    figures = {1: 0.1, 2: 0.9, 3: 0.2, 4: 0.3, 5: 0.4, 6: 0.5}
    place = Checkpoints(tmp_path, keep=2, hours=2, score=figures.get)
    for step in figures:
        place.save(step, state_of(step))
        file = tmp_path / f"step-0000000{step}/manifest.json"
        os.utime(file, (3600 * step, 3600 * step))
    assert [int(p.name[-1]) for p in sorted(tmp_path.glob("step*"))] == [1, 2, 3, 5, 6]
    with pytest.raises(ValueError, match="every -1 hours"):
        Checkpoints(tmp_path, hours=-1)
