"""What is counted on the meta device, against real steps on the CPU."""

import pytest
import torch
from torch.profiler import ProfilerActivity, profile

from counterpoint.framework import Draw, contrast
from counterpoint.framework.model import reaching_all
from counterpoint.methods import SEVEN, method_named
from counterpoint.plan.gpus import GPUS
from counterpoint.plan.machine import time_of
from counterpoint.training.operator_count import OperatorCount
from counterpoint.training.step_count import count_step


def allocated(step):
    """Return the bytes that torch's allocator held at the peak of a call, above those before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        step()
    events = [e for e in seen.profiler.kineto_results.events() if e.name() == "[memory]"]
    living = peak = 0
    for event in sorted(events, key=lambda e: e.start_ns()):
        living += event.nbytes()
        peak = max(peak, living)
    return peak


@pytest.mark.parametrize(
    "name", ["simclr", *(pytest.param(n, marks=pytest.mark.full) for n in SEVEN if n != "simclr")]
)
def test_memory_of_a_step_is_what_torch_allocates(name):
    method, images = method_named(f"{name}-small", size=32), 64
    torch.manual_seed(0)
    model, index = method.build(image=(3, 32, 32)), torch.arange(images)
    pixels = torch.randint(256, (images, 3, 32, 32), dtype=torch.uint8)
    views = model.views(pixels, Draw(0, 0, index))
    for _ in range(2):  # the first makes what is kept, and fills a queue
        model.zero_grad()
        measured = allocated(lambda: reaching_all(contrast(model, views, index), model).backward())
    count = count_step(method, (3, 32, 32), images, views=False)
    assert count.activations == pytest.approx(measured, rel=0.1)


def test_candidates_of_others_are_held_with_their_gradient():
    method = method_named("simclr-small", size=32)
    alone, many = (
        count_step(method, (3, 32, 32), 4, ranks=ranks, views=False, keep_gradient=True)
        for ranks in (1, 1024)
    )
    gathered = 1023 * 8 * 128 * 4
    assert many.activations - alone.activations == pytest.approx(2 * gathered, rel=1.0)
    assert many.flops > alone.flops


def test_a_walk_of_many_tiles_is_counted_by_a_part_of_it(monkeypatch):
    method = method_named("simclr-small", size=32)
    whole = count_step(method, (3, 32, 32), 64, ranks=64, views=False)
    monkeypatch.setattr("counterpoint.training.step_count.AREA", 1 << 17)
    part = count_step(method, (3, 32, 32), 64, ranks=64, views=False)
    assert part.flops == pytest.approx(whole.flops, rel=0.02)
    assert part.activations == pytest.approx(whole.activations, rel=0.05)


def test_a_resnet_50_is_as_fast_as_nvidia_measured():
    """2,470 images/s on an A100 with 80 GB: NVIDIA/DeepLearningExamples, mixed precision."""
    from torchvision.models import resnet50

    with torch.device("meta"):
        model = resnet50().to(torch.bfloat16)
        images = torch.empty(256, 3, 224, 224, dtype=torch.bfloat16)
    with OperatorCount() as count:
        model(images).float().sum().backward()
    gpu = GPUS["a100"]
    taken = time_of(count.work, gpu.rates(half=True), gpu.start)
    assert 256 / taken.total == pytest.approx(2470, rel=0.05)
