"""Looks, embedding, probes, fine-tuning and robustness on the pretend accelerator."""

import math

import pytest
import torch

from accelerator import DEVICE, pretend
from counterpoint import NarrowResNet, Run, simclr
from counterpoint.data import ArraySource, Splits
from counterpoint.evaluation import Representation, evaluate, finetune
from counterpoint.evaluation.health import probed, take_look
from counterpoint.evaluation.placing import best_device, device_of, on_device
from counterpoint.evaluation.robustness import robustness
from counterpoint.framework.settings import Training
from counterpoint.methods import METHODS, SEVEN

METHOD = simclr(NarrowResNet(widths=(8, 8), blocks=(1, 1)), size=16)


def part(name, seed, count=40, size=16):
    """Three classes that differ in brightness."""
    generator = torch.Generator().manual_seed(seed)
    labels = torch.arange(count) % 3
    noise = torch.randint(0, 90, (count, 3, size, size), generator=generator)
    images = (noise + 80 * labels[:, None, None, None]).to(torch.uint8)
    return ArraySource(name, images, labels, ("a", "b", "c"))


def splits():
    return Splits(part("train", 0), part("validation", 1), part("test", 2))


@pytest.fixture
def model():
    torch.manual_seed(0)
    return METHOD.build(image=(3, 16, 16))


@pytest.mark.parametrize("profile", ["cuda", "mps"])
def test_vectors_are_those_of_the_cpu_and_come_back_to_it(profile, model):
    images = part("some", 0).images
    expected = Representation(model)(images, batch=16)
    with pretend(profile) as seen, on_device(model, DEVICE):
        seen.clear()
        found = Representation(model)(images, batch=16)
    assert found.device.type == "cpu"
    torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    waits = {place: count for place, count in seen.waits.items() if "representation" in place}
    assert sum(waits.values()) == 3  # one for each batch: its vectors come back


@pytest.mark.parametrize("profile", ["cuda", "mps"])
def test_a_whole_evaluation_gives_the_figures_of_the_cpu(profile, model):
    names = ("knn", "linear", "mlp", "finetune")
    expected = evaluate(Representation(model), splits(), probes=names[:2])
    with pretend(profile), on_device(model, DEVICE):
        found = evaluate(Representation(model), splits(), probes=names)
    for name in names[:2]:
        ours, cpu = found.probe(name), expected.probe(name)
        assert ours.test == pytest.approx(cpu.test, abs=1.5 / 40)
        assert ours.calibration_error == pytest.approx(cpu.calibration_error, abs=0.05)
    assert [probe.name for probe in found.probes] == list(names)
    assert device_of(model).type == "cpu"


@pytest.mark.parametrize("profile", ["cuda", "mps"])
def test_fine_tuning_is_that_of_the_cpu(profile, model):
    whole = splits()
    sides = (whole.train, whole.validation)
    on_cpu = finetune(Representation(model), *sides, width=8, epochs=2).predict(whole.test.images)
    with pretend(profile), on_device(model, DEVICE):
        tuned = finetune(Representation(model), *sides, width=8, epochs=2)
        found = tuned.predict(whole.test.images)
        assert device_of(tuned.net) == DEVICE
    torch.testing.assert_close(found, on_cpu, atol=1e-5, rtol=1e-4)


def test_robustness_under_the_mildest_changes(model):
    some = part("some", 0, count=6)
    known = (Representation(model)(some.images), some.labels)
    few = {"corruptions": ("fog", "gaussian_noise"), "severities": (1,), "shifts": ()}
    expected = robustness(Representation(model), known, some, **few)
    with pretend(), on_device(model, DEVICE):
        assert robustness(Representation(model), known, some, **few) == expected


LOOKS = [("cuda", name) for name in SEVEN] + [("mps", name) for name in SEVEN]
QUICK = {("cuda", "simclr"), ("cuda", "cpc"), ("cuda", "moco"), ("mps", "amdim")}


@pytest.mark.parametrize(
    ("profile", "name"),
    [pytest.param(*look, marks=() if look in QUICK else pytest.mark.full) for look in LOOKS],
)
def test_a_look_at_health(profile, name):
    """The signs, and the probes of a labelled source, which is large enough to be probed."""
    torch.manual_seed(0)
    model = METHODS[f"{name}-small"](NarrowResNet(widths=(8, 8, 8)), size=32).build(
        image=(3, 32, 32)
    )
    some = part("some", 0, count=3_000, size=32)
    order = torch.arange(3_000)
    index = torch.arange(64)
    expected = take_look(model, some, index)
    with pretend(profile), on_device(model, DEVICE):
        found = take_look(model, some, index)
        accuracies = probed(model, some, order)
    assert accuracies == pytest.approx(probed(model, some, order), abs=0.06)
    assert found.rankme == pytest.approx(expected.rankme, rel=1e-3)
    assert found.top1 == pytest.approx(expected.top1, abs=0.05, nan_ok=True)
    assert math.isfinite(found.loss)


def test_a_run_is_evaluated_on_the_accelerator_by_itself(model, tmp_path):
    """The default is an accelerator if there is one, and the model is left where it was."""
    run = Run(tmp_path, METHOD, model, (3, 16, 16), Training())
    whole = splits()
    on_cpu = run.embed(whole.test, device="cpu")
    with pretend() as seen:
        assert best_device().type == DEVICE.type
        vectors = run.embed(whole.test)
        assert any("representation" in place for place in seen.operators)
        seen.clear()
        run.embed(whole.test, device="cpu")
        assert not seen.operators
        run.evaluate(whole, probes=("knn",))
        assert any("knn" in place for place in seen.operators)
    torch.testing.assert_close(vectors, on_cpu, atol=1e-6, rtol=1e-5)
    assert device_of(model).type == "cpu"
    assert best_device().type == "cpu"


def test_vectors_that_do_not_fit_are_probed_on_the_cpu(model, monkeypatch, capsys):
    from counterpoint.evaluation import protocol

    knn = protocol.FROZEN["knn"]

    def full(train, validation, *, seed):
        if train[0].device == DEVICE:
            raise torch.OutOfMemoryError("full")
        return knn(train, validation, seed=seed)

    monkeypatch.setitem(protocol.FROZEN, "knn", full)
    with pretend(), on_device(model, DEVICE):
        result = evaluate(Representation(model), splits(), probes=("knn",))
    assert result.probe("knn").test > 0.5
    assert "probed on the CPU" in capsys.readouterr().err
