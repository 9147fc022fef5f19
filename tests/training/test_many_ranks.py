"""A step of one rank of 1,024, on torch's fake process group: what it exchanges, and its Python."""

import sys
from collections import Counter
from contextlib import contextmanager
from dataclasses import replace

import pytest
import torch
import torch.distributed as dist
from torch.testing._internal.distributed.fake_pg import FakeStore
from torch.utils._python_dispatch import TorchDispatchMode

from counterpoint.framework.settings import Training
from counterpoint.training.distributed import Ranks
from counterpoint.training.divided_memory import hold_rows
from counterpoint.training.traffic import exchanges_of
from toy import tiny_batch
from training import gradients

SEVEN = ("amdim", "cpc", "simclr", "moco", "byol", "cmc", "yadim")
IMAGES = 4  # of a rank
SLICES = 3  # about as many; the budget is made for them


class Wire(TorchDispatchMode):
    """Counts collectives, and the bytes that gathers and scatters bring from or to other ranks."""

    def __init__(self):
        super().__init__()
        self.calls, self.bytes = Counter(), 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        name = str(function)
        if name.startswith("c10d."):
            self.calls[name.split(".")[1]] += 1
            if "gather" in name or "scatter" in name:
                large, small = sorted((args[0].nbytes, args[1].nbytes), reverse=True)
                self.bytes += large - small
        return function(*args, **(kwargs or {}))


@contextmanager
def one_of(ranks):
    dist.init_process_group("fake", store=FakeStore(), rank=1, world_size=ranks)
    try:
        yield
    finally:
        dist.destroy_process_group()


def step(name, ranks, slices):
    """A step of rank 1 to be made again, and what it should exchange."""
    model = replaced_samples(gradients.model_of(gradients.METHODS[name]).float())
    training = Training(batch=IMAGES * ranks, slice_megabytes=1e6)
    if slices > 1:
        at_once = exchanges_of(model, training, ranks=ranks)
        most = max((each.rows * each.width for each in at_once), default=1)
        training = replace(training, slice_megabytes=4e-6 * most * ranks / slices)
    index = torch.arange(IMAGES * ranks)
    world = Ranks(batch=len(index), samples=index, budget=training.slice_bytes)
    hold_rows(model, world)
    views = tuple(view.float() for view in tiny_batch(IMAGES)[0])
    mine = index.tensor_split(ranks)[1]

    def once():
        model(views, mine, world).backward()

    once()  # a queue is filled
    return once, exchanges_of(model, training, ranks=ranks)


def replaced_samples(model):
    """A bank for the samples of 1,024 ranks."""
    if hasattr(model.extraction, "entries"):
        made = replace(model.extraction.settings, samples=IMAGES * 1024)
        views, _, width = model.extraction.entries.shape
        model.extraction = type(model.extraction)(made, width, views=views)
    return model


def events(function):
    """Calls of Python and of C that a function makes."""
    found = 0

    def count(_frame, event, _argument):
        nonlocal found
        found += event in ("call", "c_call")

    sys.setprofile(count)
    try:
        function()
    finally:
        sys.setprofile(None)
    return found


ALL = [(name, slices) for name in SEVEN for slices in (1, SLICES)]
SAMPLE = [("simclr", 1), ("moco", SLICES), ("cmc", 1), ("yadim", SLICES)]


@pytest.mark.parametrize(
    ("name", "slices"),
    [*SAMPLE, *(pytest.param(*each, marks=pytest.mark.full) for each in ALL if each not in SAMPLE)],
)
def test_what_travels_is_the_formula_and_nothing_grows_with_the_ranks(name, slices):
    calls, python = {}, {}
    for ranks in (8, 1024):
        with one_of(ranks):
            again, expected = step(name, ranks, slices)
            with Wire() as wire:
                again()
            python[ranks] = events(again)
        assert wire.bytes == sum(each.bytes(ranks) for each in expected)
        made = sum(n for name, n in wire.calls.items() if "gather" in name or "scatter" in name)
        assert made == sum(each.collectives() for each in expected)
        calls[ranks] = wire.calls
    assert calls[8] == calls[1024]
    assert python[1024] <= 1.2 * python[8], python
    assert any(each.slices > 1 for each in expected) == (slices > 1 and name != "byol")
