"""The shell: optimisers and schedule, one call, a run that opens again, progress in a file."""

import io
import itertools
import json
import math
import re

import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file
from torch import nn

import counterpoint
from counterpoint import Run, Source, Training, pretrain
from counterpoint.framework import Draw, contrast
from counterpoint.methods import named, simclr, training_of
from counterpoint.parts.encoders import MomentumEncoder, NarrowResNet
from counterpoint.training.optimisers import optimiser, parameter_groups, rate
from counterpoint.training.progress import Pace
from counterpoint.training.start import activation_numbers, candidates, start_table

METHOD = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)))
QUIET = Training(epochs=2, batch=16, seed=3)


def source(count=64):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (count, 3, 32, 32), generator=generator, dtype=torch.uint8)
    return Source("noise", images)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    console = Console(file=io.StringIO())
    return pretrain(
        METHOD, source(), out=tmp_path_factory.mktemp("run"), training=QUIET, console=console
    )


def test_the_shell_trains_what_a_bare_loop_trains(run):
    """The gate: the same weights as fifteen lines of plain torch, to the bit."""
    torch.manual_seed(QUIET.seed)
    model = METHOD.build(image=(3, 32, 32))
    steps = 8
    chosen = optimiser(model, QUIET)
    batches = counterpoint.data.Batches(source(), batch=16, seed=QUIET.seed)
    step = 0
    for epoch in range(2):
        batches.sampler.set_epoch(epoch)
        for images, index, _ in batches:
            share = rate(step, QUIET, steps=steps)
            for group in chosen.param_groups:
                group["lr"] = QUIET.scaled_lr * share
            loss = contrast(model, model.views(images, Draw(QUIET.seed, epoch, index)), index)
            chosen.zero_grad()
            loss.backward()
            chosen.step()
            step += 1
    for (name, ours), theirs in zip(run.model.named_parameters(), model.parameters(), strict=True):
        assert torch.equal(ours, theirs), name


def test_a_run_opens_again_and_embeds_the_same(run):
    again = Run.open(run.folder)
    assert again.method == METHOD
    assert again.training == QUIET
    images = source(9)
    assert torch.equal(again.embed(images), run.embed(images))
    assert run.embed(images.images).shape == (9, 16)


def test_what_a_run_writes(run):
    names = {file.name for file in run.folder.iterdir()}
    assert {
        "run.json",
        "method.json",
        "model.safetensors",
        "encoder.safetensors",
        "metrics.csv",
    } <= names
    record = json.loads((run.folder / "run.json").read_text())
    assert record["method"] == METHOD.fingerprint
    assert record["steps"] == 8
    assert (run.folder / "metrics.csv").read_text().startswith("epoch,loss,step")


def test_exported_weights_have_the_key_names_of_the_backbone(run):
    weights = load_file(run.folder / "encoder.safetensors")
    assert "conv1.weight" in weights
    run.encoder.backbone.load_state_dict(weights, strict=True)


def test_epochs_replace_those_of_the_settings(tmp_path):
    quick = pretrain(METHOD, source(), out=tmp_path, epochs=1, training=QUIET, console=_nowhere())
    assert quick.training.epochs == 1


def _nowhere():
    return Console(file=io.StringIO())


def test_a_folder_without_a_run_says_so(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"holds no run\.json"):
        Run.open(tmp_path)


def test_lars_leaves_biases_and_norms_alone():
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    decayed, plain = parameter_groups(net.named_parameters(), 0.1)
    assert [p.ndim for p in decayed["params"]] == [2]
    assert [p.ndim for p in plain["params"]] == [1, 1, 1]
    lars = optimiser(net, Training(optimiser="lars", lr=1.0, batch=256))
    before = net[0].bias.detach().clone()
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    lars.step()
    torch.testing.assert_close(net[0].bias.detach(), before - 1.0)  # plain SGD: no trust ratio


def test_the_rate_rises_then_falls_to_zero():
    rates = [rate(step, Training(warmup=0.1), steps=100) for step in range(100)]
    assert rates[:10] == pytest.approx([(k + 1) / 10 for k in range(10)])
    assert rates[55] == pytest.approx(0.5 * (1 + math.cos(math.pi * 0.5)))
    assert all(a > b for a, b in itertools.pairwise(rates[10:]))
    assert rates[-1] < 0.001


@pytest.mark.parametrize("wrong", [{"epochs": 0}, {"batch": -1}, {"lr": 0.0}, {"warmup": 1.0}])
def test_settings_that_cannot_be_are_refused(wrong):
    with pytest.raises(ValueError, match=f"training: {next(iter(wrong))}"):
        Training(**wrong)


def test_progress_in_a_file_is_one_plain_line_every_n_steps(tmp_path, capfd):
    pretrain(METHOD, source(), out=tmp_path, training=Training(epochs=13, batch=16))
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("step ")]
    assert [line.split()[1] for line in lines] == ["50/52", "52/52"]
    assert re.fullmatch(
        r"step 52/52  epoch 13  loss \d+\.\d{4}  \d+ images/s  waiting \d+%  left 0:00:00", lines[1]
    )


def test_pace():
    pace = Pace(started=100.0, waited=2.0, images=640, steps=10)
    assert pace.images_per_second(108.0) == 80
    assert pace.waiting(108.0) == 0.25
    assert pace.remaining(108.0, steps=20) == 16.0


def test_the_start_table_says_what_matters():
    model = METHOD.build(image=(3, 32, 32))
    console = Console(file=io.StringIO(), width=100)
    table = start_table(METHOD, model, source(), Training(batch=128), ranks=1, steps=7)
    console.print(table)
    text = console.file.getvalue()
    assert "64 images, 3 x 32 x 32, no labels" in text
    assert "256 per anchor: 2 of each image in the batch" in text
    assert "0.15 = 0.3 x 128 / 256, lars" in text
    assert METHOD.fingerprint in text


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("moco-small", "4,352 per anchor: 1 of each image in the batch and 4,096 remembered"),
        ("cpc-small", "2,048 per anchor: 16 of each image in the batch, gathered from 2 ranks"),
        ("byol-small", "its positives only: this loss has no negatives"),
    ],
)
def test_candidates_are_counted_for_every_method(name, said):
    model = named(name, size=32).build(image=(3, 32, 32))
    ranks = 2 if name == "cpc-small" else 1
    assert candidates(model, training_of(name), ranks=ranks) == said


def test_activations_are_counted_without_running():
    model = simclr(NarrowResNet(widths=(8,), blocks=(1,), stride=2)).build(image=(3, 32, 32))
    # stem: conv, bn, relu; block: two convs, bns and relus (one module); all 8 x 16 x 16
    assert activation_numbers(model) == (3 + 6) * 8 * 256


@pytest.mark.parametrize("accumulate", [1, 2])
def test_twins_follow_every_update(tmp_path, accumulate):
    """With decay 0 the twin is the encoder after its last update."""
    method = METHOD.swap(encoder=MomentumEncoder(of=METHOD.encoder, decay=0.0))
    run = pretrain(
        method,
        source(),
        out=tmp_path,
        steps=2,
        training=QUIET,
        console=_nowhere(),
        accumulate_grad_batches=accumulate,
    )
    pair = run.model.encoder
    for slow, fast in zip(pair.twin.parameters(), pair.online.parameters(), strict=True):
        assert torch.equal(slow, fast)
    assert run.encoder is pair.online
