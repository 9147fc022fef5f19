"""The gradient of a batch by one process and by two, which must be the same."""

import multiprocessing
import os
import tempfile
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import torch
import torch.distributed as dist
from torch import Tensor, nn

from counterpoint.evaluation.placing import device_of
from counterpoint.framework import ALONE, Draw, Method, Model, Samples, World, contrast
from counterpoint.framework.batch_samples import blank_samples
from counterpoint.methods import read_method
from counterpoint.parts.norm_conversion import share_statistics
from counterpoint.parts.own import own_parts
from counterpoint.training.distributed import Ranks

Gradients = Mapping[str, Tensor]


@dataclass(frozen=True, slots=True)
class Task:
    """What a process needs to know to make the same model and the same batch."""

    method: str
    parts: str | None
    """A file of a user's own parts."""
    image: tuple[int, ...]
    count: int


def gradient_difference(
    method: Method, parts: str | None, image: tuple[int, ...], count: int
) -> float:
    """Return the largest difference of a gradient, relative to the largest gradient."""
    task = Task(method.to_json(), parts, image, count)
    alone = _gradients(task, ALONE)
    with tempfile.TemporaryDirectory() as folder:
        store = str(Path(folder) / "store")
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            found = [pool.submit(_rank, task, rank, store).result for rank in (0, 1)]
            first, second = (result() for result in found)
    scale = max(float(g.abs().max()) for g in alone.values()) or 1.0
    mean = {name: (first[name] + second[name]) / 2 for name in alone}
    return max(float((alone[name] - mean[name]).abs().max()) for name in alone) / scale


def _rank(task: Task, rank: int, store: str) -> Gradients:
    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{store}", rank=rank, world_size=2)
    try:
        return _gradients(task, Ranks())
    finally:
        dist.destroy_process_group()


def _gradients(task: Task, world: World) -> Gradients:
    """Run two steps, so that a queue or bank has something; give the gradient of the second."""
    torch.manual_seed(0)
    method = read_method(task.method, parts=own_parts(task.parts))
    model = method.build(image=task.image).double()
    share_statistics(model, world)
    for step in (0, 1):
        model.zero_grad()
        views, samples = batch(model, task.image, task.count, step)
        mine = tuple(view.double().tensor_split(world.size)[world.rank] for view in views)
        contrast(model, mine, _share(samples, world), world).backward()
    named = model.named_parameters()
    return {name: p.grad.detach() for name, p in named if p.grad is not None}


def _share(samples: Samples, world: World) -> Samples:
    """Return the samples of one rank, as `tensor_split` shares them out."""
    index, labels = samples.index.tensor_split(world.size)[world.rank], samples.labels
    return Samples(index, None if labels is None else labels.tensor_split(world.size)[world.rank])


def batch(
    model: Model, image: tuple[int, ...], count: int, step: int
) -> tuple[tuple[Tensor, ...], Samples]:
    """Make views of smooth noise, each image in its own colour, the same in every process."""
    generator = torch.Generator().manual_seed(step)
    coarse = (image[0], -(-image[1] // 4), -(-image[2] // 4))
    noise = torch.randint(256, (count, *coarse), generator=generator).float()
    smooth = nn.functional.interpolate(noise, tuple(image[1:]), mode="bilinear")
    colour = torch.randint(256, (count, image[0], 1, 1), generator=generator)
    smooth = 0.5 * smooth + 0.5 * colour
    device = device_of(model)
    images, index = smooth.to(device, torch.uint8), torch.arange(count, device=device)
    return model.views(images, Draw(0, step, index)), blank_samples(
        count, labels=model.needs_labels
    )
