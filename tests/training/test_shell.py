"""The shell: optimisers and schedule, one call, a run that opens again, progress in a file."""

import io
import itertools
import json
import math
import re
from dataclasses import asdict, replace

import jaxtyping
import pytest
import torch
from rich.console import Console
from safetensors.torch import load_file
from torch import nn

import counterpoint
from counterpoint import ArraySource, Run, Training, pretrain
from counterpoint.framework import Draw, contrast
from counterpoint.methods import method_named, simclr, training_of
from counterpoint.parts.encoders import MomentumEncoder, NarrowResNet
from counterpoint.run import read_training
from counterpoint.training import resume as resuming
from counterpoint.training import summary as start
from counterpoint.training.callbacks import progress_lines as progress
from counterpoint.training.callbacks.progress_lines import Pace
from counterpoint.training.cost import activation_numbers, shadow
from counterpoint.training.optimisers import optimiser, parameter_groups, rate
from counterpoint.training.summary import batch_words, candidates, memory, start_table

METHOD = simclr(NarrowResNet(widths=(8, 16), blocks=(1, 1)))
QUIET = Training(epochs=2, batch=16, seed=3)


def source(count=64):
    generator = torch.Generator().manual_seed(0)
    images = torch.randint(256, (count, 3, 32, 32), generator=generator, dtype=torch.uint8)
    return ArraySource("noise", images)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    console = Console(file=io.StringIO())
    return pretrain(
        METHOD, source(), out=tmp_path_factory.mktemp("run"), training=QUIET, console=console
    )


def test_the_shell_trains_what_a_bare_loop_trains(run):
    """The gate: the same weights as fifteen lines of plain torch, bit for bit."""
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
    assert record["job"]["method"] == METHOD.fingerprint
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
    with pytest.raises(FileNotFoundError, match=r"has no run\.json"):
        Run.open(tmp_path)


def test_lars_leaves_biases_and_norms_alone():
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    decayed, plain = parameter_groups(net.named_parameters(), Training(weight_decay=0.1))
    assert [p.ndim for p in decayed["params"]] == [2]
    assert [p.ndim for p in plain["params"]] == [1, 1, 1]
    lars = optimiser(net, Training(optimiser="lars", lr=1.0, batch=256))
    before = net[0].bias.detach().clone()
    for p in net.parameters():
        p.grad = torch.ones_like(p)
    lars.step()
    torch.testing.assert_close(net[0].bias.detach(), before - 1.0)  # plain SGD: no trust ratio


def _one_step(training, *, gradient=1.0):
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 4), nn.BatchNorm1d(4))
    before = [p.detach().clone() for p in net.parameters()]
    chosen = optimiser(net, training)
    for p in net.parameters():
        p.grad = torch.full_like(p, gradient)
    chosen.step()
    return before, [p.detach() for p in net.parameters()]


def test_lars_scales_the_rate_of_weights_also_without_weight_decay():
    before, after = _one_step(Training(optimiser="lars", lr=1.0, weight_decay=0.0))
    weight, moved = before[0], after[0] - before[0]
    # You et al. 2017: the step is 0.001 of the weight's norm
    torch.testing.assert_close(moved.norm(), 0.001 * weight.norm())


def test_adam_adds_the_decay_to_the_gradient_and_adamw_takes_it_off_the_weights():
    settings = {"lr": 0.1, "weight_decay": 0.5}
    (before, *_), (coupled, *_) = _one_step(Training(optimiser="adam", **settings), gradient=0.0)
    # the gradient is the decay alone, and Adam's first step is its sign
    torch.testing.assert_close(coupled, before - 0.1 * before.sign())
    _, (decoupled, *_) = _one_step(Training(optimiser="adamw", **settings), gradient=0.0)
    torch.testing.assert_close(decoupled, before * (1 - 0.1 * 0.5))


@pytest.mark.parametrize("decayed", [False, True])
def test_biases_and_norms_are_decayed_where_asked(decayed):
    training = Training(optimiser="sgd", lr=0.1, weight_decay=0.5, decay_norms=decayed)
    (_, _, before, _), (_, _, norm, _) = _one_step(training, gradient=0.0)
    torch.testing.assert_close(norm, before * (1 - 0.1 * 0.5) if decayed else before)


def test_momentum_looks_ahead_only_where_asked():
    plain = _one_step(Training(optimiser="sgd", lr=0.1, weight_decay=0.0))
    ahead = _one_step(Training(optimiser="sgd", lr=0.1, weight_decay=0.0, nesterov=True))
    torch.testing.assert_close(plain[1][1] - plain[0][1], torch.full((4,), -0.1))
    torch.testing.assert_close(ahead[1][1] - ahead[0][1], torch.full((4,), -0.1 * 1.9))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"optimiser": "admw"}, "did you mean 'adamw'"),
        ({"schedule": "constant"}, "needs one of 'cosine', 'steps'"),
        ({"precision": "16-mixed"}, "fp16 needs its losses scaled"),
        ({"precision": "bf16"}, "did you mean 'bf16-mixed'"),
        ({"batch": 10, "accumulate": 4}, "does not divide the batch of 10"),
        ({"lr": float("nan")}, "lr is nan"),
        ({"weight_decay": -1e-4}, "weight_decay is -0.0001"),
    ],
)
def test_names_and_numbers_that_are_not_known_are_refused_with_what_to_write(
    wrong, said, monkeypatch
):
    # Without the types that are checked in tests only: users do not have them.
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(ValueError, match=said):
        Training(**wrong)


def test_settings_of_earlier_versions_are_read_as_what_they_were():
    old = {"optimiser": "adam", "lr": 3e-3, "betas": [0.9, 0.999], "epochs": 2}
    assert read_training(old) == Training(optimiser="adamw", lr=3e-3, epochs=2)
    assert read_training({"optimiser": "sgd"}) == Training(optimiser="sgd", nesterov=True)
    for training in (Training(optimiser="adam"), Training(optimiser="sgd")):
        assert read_training(asdict(training)) == training


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


def test_progress_in_a_file_is_one_plain_line_every_n_steps(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", math.inf)  # however slow this machine is
    pretrain(METHOD, source(), out=tmp_path, training=Training(epochs=13, batch=16))
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("step ")]
    assert [line.split()[1] for line in lines] == ["50/52", "52/52"]
    assert re.fullmatch(
        r"step 52/52  epoch 13  loss \d+\.\d{4}  \d+ images/s  waiting \d+%  left 0:00:00", lines[1]
    )


def test_a_slow_run_says_where_it_is_by_the_clock(tmp_path, capfd, monkeypatch):
    monkeypatch.setattr(progress, "SECONDS", 0.0)
    pretrain(METHOD, source(), out=tmp_path, training=QUIET, health=False)
    lines = [line for line in capfd.readouterr().err.splitlines() if line.startswith("step ")]
    assert [line.split()[1] for line in lines] == [f"{step}/8" for step in range(1, 9)]
    assert all("left 0:00:" in line for line in lines)


def test_metrics_have_each_of_the_first_steps_and_the_rate_that_it_used(run):
    rows = [line.split(",") for line in (run.folder / "metrics.csv").read_text().split()[1:]]
    assert [int(step) for _, _, step, _ in rows] == list(range(1, 9))
    used = [QUIET.scaled_lr * rate(step, QUIET, steps=8) for step in range(8)]
    assert [float(lr) for *_, lr in rows] == used
    assert used[-1] > 0


@pytest.mark.parametrize("wrong", [{"steps": 0}, {"steps": -3}, {"size": 0}])
def test_no_steps_and_no_pixels_are_refused(tmp_path, wrong):
    name, value = next(iter(wrong.items()))
    with pytest.raises(ValueError, match=f"training: {name} is {value}; needs 1 or more"):
        pretrain(METHOD, source(), out=tmp_path, training=QUIET, console=_nowhere(), **wrong)
    assert not list(tmp_path.iterdir())


def test_a_batch_that_is_larger_than_the_data_is_refused_with_one_that_fits(tmp_path):
    console = _nowhere()
    with pytest.raises(ValueError, match="a batch of 512 from 298 images; --batch-size 64 fits"):
        pretrain(METHOD, source(298), out=tmp_path, console=console)
    assert not console.file.getvalue()


def test_memory_above_that_of_the_machine_is_said(monkeypatch):
    model = METHOD.build(image=(3, 32, 32))
    assert "take a smaller" not in memory(model, QUIET, ranks=1)
    monkeypatch.setattr(start, "memory_there", lambda: 2**20)
    assert "and there are 0: take a smaller --batch-size" in memory(model, QUIET, ranks=1)


def test_a_batch_for_many_devices_is_said():
    said = batch_words(training_of("byol"), needs_negatives=False)
    assert "4,096 images; made for many devices" in said
    assert "--batch-size 256" in said
    assert "--accumulate 16" in said


def test_a_shadow_copies_no_numbers(monkeypatch):
    model = method_named("moco-small", size=32).build(image=(3, 32, 32))
    for kind in (torch.Tensor, nn.Parameter):
        monkeypatch.setattr(kind, "__deepcopy__", lambda *_: pytest.fail("a tensor was copied"))
    for part in (model.encoder, model.extraction):
        seen = shadow(part)
        assert all(t.is_meta for t in (*seen.parameters(), *seen.buffers()))


def test_a_finished_run_has_nothing_to_do_and_is_not_made_longer(run):
    console = _nowhere()
    settings = {"out": run.folder, "training": QUIET, "console": console, "resume": "auto"}
    again = pretrain(METHOD, source(), **settings)
    assert "finished at step 8: nothing to do" in " ".join(console.file.getvalue().split())
    for ours, theirs in zip(again.model.parameters(), run.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    with pytest.raises(ValueError, match="cannot be made longer or shorter"):
        pretrain(METHOD, source(), **settings, epochs=3)


def test_a_checkpoint_of_an_earlier_version_goes_on(run):
    now = {"training": asdict(QUIET), "steps": 8}
    later = ("nesterov", "decay_norms", "eps", "accumulate", "gradient_scale")
    was = {key: value for key, value in now["training"].items() if key not in later}
    resuming._same(run.folder, {"training": was, "steps": 8}, now)
    adamw = asdict(replace(QUIET, optimiser="adamw"))
    resuming._same(run.folder, {"training": {**was, "optimiser": "adam"}}, {"training": adamw})
    with pytest.raises(ValueError, match=r"training\.optimiser was adamw and is lars"):
        resuming._same(run.folder, {"training": {**was, "optimiser": "adam"}, "steps": 8}, now)


def test_a_scaled_gradient_is_a_larger_rate_and_the_same_loss(tmp_path):
    plain = Training(epochs=1, batch=16, optimiser="sgd", weight_decay=0.0, lr=2.0)
    scaled = replace(plain, lr=1.0, gradient_scale=2.0)
    one, two = (
        pretrain(METHOD, source(), out=tmp_path / str(n), training=t, console=_nowhere())
        for n, t in enumerate((plain, scaled))
    )
    for ours, theirs in zip(one.model.parameters(), two.model.parameters(), strict=True):
        assert torch.equal(ours, theirs)
    losses = [
        [row.split(",")[1] for row in (run.folder / "metrics.csv").read_text().split()]
        for run in (one, two)
    ]
    assert losses[0] == losses[1]


def test_pace():
    pace = Pace(started=100.0, waited=2.0, images=640, steps=10)
    assert pace.images_per_second(108.0) == 80
    assert pace.waiting(108.0) == 0.25
    assert pace.remaining(108.0, steps=20) == 16.0


def test_the_start_table_says_what_matters():
    model = METHOD.build(image=(3, 32, 32))
    console = Console(file=io.StringIO(), width=100)
    table = start_table(
        METHOD, model, source(), Training(batch=128), recipe="simclr", ranks=1, steps=7
    )
    console.print(table)
    text = console.file.getvalue()
    assert "64 images, 3 x 32 x 32, no labels" in text
    assert "256 per anchor: 2 of each image in the batch" in text
    assert "0.15 = 0.3 x 128 / 256, lars" in text
    assert "7 updates: 896 images, 7 epochs" in text
    assert re.search("recipe +│ simclr", text)
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
    model = method_named(name, size=32).build(image=(3, 32, 32))
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
        training=replace(QUIET, accumulate=accumulate),
        console=_nowhere(),
    )
    pair = run.model.encoder
    for slow, fast in zip(pair.twin.parameters(), pair.online.parameters(), strict=True):
        assert torch.equal(slow, fast)
    assert run.encoder is pair.online
