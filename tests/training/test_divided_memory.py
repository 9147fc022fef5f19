"""A bank that ranks divide: who holds which rows, what is saved, and a bank that is too large."""

from contextlib import contextmanager

import pytest
import torch
import torch.distributed as dist
from torch import nn
from torch.testing._internal.distributed.fake_pg import FakeStore

from counterpoint.framework.row_place import LentRows, row_buffer_names
from counterpoint.parts.extraction import Bank
from counterpoint.training.checkpoints.divided_rows import DividedRows
from counterpoint.training.distributed import Ranks
from counterpoint.training.divided_memory import borrowed, hold_rows, rows_to_load, rows_to_save

N, WIDTH = 7, 5


@contextmanager
def fake(rank, ranks):
    dist.init_process_group("fake", store=FakeStore(), rank=rank, world_size=ranks)
    try:
        yield Ranks()
    finally:
        dist.destroy_process_group()


def bank(samples=N, width=WIDTH):
    torch.manual_seed(3)
    return nn.ModuleDict(
        {"bank": Bank(samples=samples, negatives=4).build((((width, 1, 1),),) * 2)}
    )


def divided(rank, ranks, **made):
    found = bank(**made)
    with fake(rank, ranks) as world:
        assert hold_rows(found, world)
    return found


@pytest.mark.parametrize("ranks", [2, 3, 4, 9])
def test_ranks_hold_every_row_once_and_any_number_of_them_loads_it(ranks):
    whole, parts = bank(), [divided(rank, ranks) for rank in range(ranks)]
    together = torch.cat([part["bank"].entries for part in parts], dim=1)
    assert torch.equal(together, whole["bank"].entries)
    saved = [rows_to_save(part, part.state_dict()) for part in parts]
    rows = [state["bank.entries.by_row"] for state in saved]
    assert "bank.entries" not in saved[0]
    assert sum(len(one.own) for one in rows) == N
    read = saved[0] | {  # as a checkpoint is read by one process
        key: DividedRows(torch.cat([state[key].own for state in saved]), 0, N)
        for key in ("bank.entries.by_row", "bank.seen.by_row")
    }
    alone = bank()
    alone["bank"].entries.zero_()
    alone.load_state_dict(rows_to_load(alone, read))
    assert torch.equal(alone["bank"].entries, whole["bank"].entries)
    for state in (read, whole.state_dict()):  # of ranks, and of an earlier version
        other = divided(1, 3)
        other["bank"].entries.zero_()
        other.load_state_dict(rows_to_load(other, state))
        assert torch.equal(other["bank"].entries, whole["bank"].entries[:, 3:6])


def test_ddp_is_told_to_leave_divided_rows_alone():
    found = divided(0, 2)
    assert row_buffer_names(found, divided=True) == {"bank.entries", "bank.seen"}
    assert set(found._ddp_params_and_buffers_to_ignore) == {"bank.entries", "bank.seen"}
    assert row_buffer_names(bank(), divided=True) == frozenset()


def test_a_large_bank_is_drawn_where_its_rows_are_held():
    samples, ranks = 10**9, 1 << 17
    made = bank(samples, 128)
    assert made["bank"].entries.shape == (2, 0, 128)
    with fake(5, ranks) as world:
        hold_rows(made, world)
    entries = made["bank"].entries
    assert entries.shape == (2, -(-samples // ranks), 128)
    assert torch.allclose(entries.norm(dim=2), torch.ones(()))
    assert entries.mean().abs() < 1e-3
    assert abs(entries.var().item() * 128 - 1) < 1e-2
    assert torch.equal(divided(5, ranks, samples=samples, width=128)["bank"].entries, entries)
    other = divided(6, ranks, samples=samples, width=128)["bank"].entries
    assert (entries[:, :1000] * other[:, :1000]).sum(dim=2).abs().max() < 0.6  # other directions
    assert (entries[0, :1000] * entries[1, :1000]).sum(dim=1).abs().max() < 0.6


def test_rows_that_were_lent_are_read_and_no_others():
    found, rows = divided(0, 2), torch.tensor([6, 0, 6])
    whole = bank()["bank"]
    lent = LentRows(rows, whole.read(rows))
    with borrowed(found, {"bank": lent}):
        first, second, seen = found["bank"].place.same(found["bank"].read, torch.tensor([0, 6]))
        assert torch.equal(first, whole.entries[0, [0, 6]])
        assert torch.equal(second, whole.entries[1, [0, 6]])
        assert not seen.any()
        with pytest.raises(KeyError, match="not lent"):
            found["bank"].place.same(found["bank"].read, torch.tensor([1]))
    assert found["bank"].place.divided
    assert len(found["bank"].place.held) == 4
