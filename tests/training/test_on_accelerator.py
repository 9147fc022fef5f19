"""A whole `pretrain` on the pretend accelerator: looks, checkpoints and the run it leaves."""

import json
from dataclasses import replace

import pytest
import torch

from accelerator import pretend
from accelerator.shell import on_accelerator
from counterpoint import NarrowResNet, Run, pretrain
from counterpoint.data import ArraySource
from counterpoint.methods import simclr_small, training_of
from counterpoint.parts.views import pipelines

METHOD = simclr_small(NarrowResNet(widths=(8, 8, 8)), size=32)


def labelled(count, size=32):
    """Images of which the health watch probes some: 3,000 are the fewest."""
    generator = torch.Generator().manual_seed(0)
    labels = torch.arange(count) % 3
    noise = torch.randint(0, 90, (count, 3, size, size), generator=generator)
    return ArraySource("made", (noise + 80 * labels[:, None, None, None]).to(torch.uint8), labels)


def trained(source, out, *, method=METHOD, precision="32-true", **asked):
    training = replace(training_of("simclr-small"), batch=16, precision=precision)
    return pretrain(method, source, out=out, steps=3, training=training, save_seconds=0, **asked)


@pytest.mark.parametrize("profile", ["cuda", "mps"])
def test_a_labelled_run_is_that_of_the_cpu(profile, tmp_path):
    """Its looks probe it before the first step; every step writes a checkpoint."""
    source = labelled(3_000)
    on_cpu = trained(source, tmp_path / "cpu", health=False)
    with pretend(profile):
        run = trained(source, tmp_path / "run", **on_accelerator())
    looks = [json.loads(line) for line in (tmp_path / "run/health.jsonl").read_text().splitlines()]
    assert [look["step"] for look in looks] == [0, 3]
    assert all(look["knn"] is not None for look in looks)
    expected = on_cpu.model.state_dict()
    for name, weight in Run.open(run.folder).model.state_dict().items():
        torch.testing.assert_close(weight, expected[name], atol=1e-4, rtol=1e-2, msg=name)


def test_bf16_with_blur(tmp_path):
    """Views with a blur, above 64 pixels in memory, under autocast as on a GPU."""
    method = METHOD.swap(views=pipelines.simclr_views(72))
    with pretend():
        run = trained(
            labelled(64, size=72),
            tmp_path,
            method=method,
            precision="bf16-mixed",
            health=False,
            **on_accelerator(),
        )
    assert all(weight.isfinite().all() for weight in run.model.state_dict().values())
