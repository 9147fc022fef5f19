"""Gradients and updated weights of a batch: by one process, by DDP and by sharded ranks."""

import functools

import torch
from torch.distributed.device_mesh import DeviceMesh
from torch.nn.parallel import DistributedDataParallel

from counterpoint.framework.settings import Training
from counterpoint.parts.norm_conversion import share_statistics
from counterpoint.training.divided_memory import hold_rows
from counterpoint.training.fsdp.row_lengths import lengths_over_ranks
from counterpoint.training.fsdp.row_steps import step_on_rows, zero_missing
from counterpoint.training.fsdp.shard_model import shard_model
from counterpoint.training.lars import Lars
from counterpoint.training.optimisers import optimiser
from counterpoint.training.recomputation import recompute_blocks
from counterpoint.training.step import step_twins
from training import gradients

STEPS = 2
BATCHES = {"lars": 256, "sgd": 64, "adam": 8, "adamw": 8}  # of which the rate is a share


def settings(name):
    # Adam divides by the length of a gradient: an eps of 1e-8 would make 1e-10 of a rounding
    # error of 1e-18, in a weight whose gradient is zero, by one process as by many.
    return Training(
        optimiser=name, lr=0.3, batch=BATCHES[name], weight_decay=1e-2, nesterov=True, eps=1e-3
    )


@functools.cache
def whole(method, count, name):
    """The first gradient and the last weights and buffers of one process with all images."""
    model = gradients.model_of(method)
    chosen = optimiser(model, settings(name))
    with torch.no_grad():
        model(*gradients.labelled(*gradients.tiny_batch(count, seed=1)))
    first = None
    for step in range(STEPS):
        chosen.zero_grad()
        model(*gradients.labelled(*gradients.tiny_batch(count, seed=step))).backward()
        first = first or gradients.gradients(model)
        chosen.step()
        step_twins(model, step / STEPS)
    return first, _weights(model)


def share(method, count, world, rank, name, *, strategy, recompute=False):
    """The same of ranks, each with its share of the images; `strategy` is ddp or fsdp2."""
    model = gradients.model_of(method)
    share_statistics(model, world)
    hold_rows(model, world, world.group)
    if recompute:
        recompute_blocks(model)
    called = model
    if strategy == "fsdp2":
        shard_model(model, DeviceMesh.from_group(world.group, "cpu"))
    with torch.no_grad():
        called(*gradients.own(count, world, rank, seed=1), world)
    if strategy == "fsdp2":
        model.reshard()  # a pass without gradient leaves the outermost weights whole
    if strategy == "ddp":
        called = DistributedDataParallel(
            model, process_group=world.group, broadcast_buffers=False, gradient_as_bucket_view=True
        )
    chosen = optimiser(model, settings(name))
    if strategy == "fsdp2":
        step_on_rows(chosen)
        if isinstance(chosen, Lars):
            chosen.lengths = functools.partial(lengths_over_ranks, group=world.group)
    first = None
    for step in range(STEPS):
        chosen.zero_grad()
        called(*gradients.own(count, world, rank, seed=step), world).backward()
        if strategy == "fsdp2":
            zero_missing(model.parameters())
        first = first or {n: _full(g) for n, g in gradients.gradients(model).items()}
        chosen.step()
        step_twins(model, step / STEPS)
    return first, _weights(model)


def errors(method, count, world, rank, name, **how):
    """The largest error of a gradient and of a weight, relative to the largest of them."""
    exact, after = whole(method, count, name)
    found, moved = share(method, count, world, rank, name, **how)
    assert exact.keys() == found.keys()
    assert after.keys() == moved.keys()
    own = {name: gradients.own_rows(name, v, rank, world.size) for name, v in after.items()}
    return _apart(exact, found), _apart(own, moved)


def _apart(exact, found):
    some = {name: value for name, value in exact.items() if value.numel()}
    assert all(found[name].shape == value.shape for name, value in exact.items())
    scale = max(value.abs().max().item() for value in some.values())
    return max((some[name] - found[name]).abs().max().item() for name in some) / scale


def _weights(model):
    return {name: _full(value.detach()).double() for name, value in model.state_dict().items()}


def _full(value):
    return value.full_tensor() if hasattr(value, "full_tensor") else value.clone()
