"""What is refused says why, and what is not trains."""

from dataclasses import replace

import pytest
import torch

from counterpoint.data import ArraySource, Batches
from counterpoint.design.refusal import refusal
from counterpoint.evaluation.representation import Representation
from counterpoint.framework.method import FIVE
from counterpoint.training.cost import step_flops
from counterpoint.training.optimisers import optimiser
from counterpoint.training.step import train_step
from design.compositions import BATCH, IMAGE, composed, in_small_batches, population

IMAGES = 2 * BATCH
FLOPS, STEPS = 1e13, 20  # half a million million operations for a step of 16 images


def refused(candidate):
    return refusal(candidate, IMAGE, flops=FLOPS, steps=STEPS)


def trains_two_steps(candidate):
    """In the second a queue has keys. The weights move, and every loss is finite."""
    pixels = torch.Generator().manual_seed(0)
    noise = torch.randint(256, (IMAGES, *IMAGE), dtype=torch.uint8, generator=pixels)
    source = ArraySource("noise", noise)
    torch.manual_seed(0)
    model = candidate.method.for_samples(IMAGES).build(image=IMAGE)
    weights = [p for p in model.encoder.parameters() if p.requires_grad]
    before = [w.detach().clone() for w in weights]
    update = optimiser(model, candidate.settings)
    for batch in Batches(source, batch=BATCH, seed=0, cut=model.views.cut):
        assert train_step(model, batch, update, source, seed=0).isfinite()
    assert any(not torch.equal(old, new) for old, new in zip(before, weights, strict=True))
    assert Representation(model.eval()).vectors(noise).isfinite().all()


def check(candidate):
    words = refused(candidate)
    if words is None:
        trains_two_steps(candidate)
    else:
        assert words.split(":")[0] in (*FIVE, "cost"), words


@pytest.mark.parametrize("one", population(), ids=lambda one: one.change)
def test_no_known_method_is_refused(one):
    assert refused(in_small_batches(one)) is None


@pytest.mark.parametrize("number", range(12))
def test_a_composition_is_refused_with_words_or_trains(number):
    check(in_small_batches(composed(12, seed=1)[number]))


@pytest.mark.full
@pytest.mark.parametrize("number", range(200))
def test_two_hundred_compositions_are_refused_with_words_or_train(number):
    check(in_small_batches(composed(200, seed=2)[number]))


def test_what_could_be_trained_and_not_evaluated_is_refused():
    """CMC's two networks see two views of SimCLR in training, and one at evaluation."""
    by_name = {one.change: one for one in population()}
    simclr, cmc = by_name["simclr-small"], by_name["cmc-small"]
    crossed = replace(simclr, method=simclr.method.swap(encoder=cmc.method.encoder))
    assert refused(crossed) == (
        "encoder: got views: 1, encoders: 2, needs one for each encoder, at evaluation too; "
        "use views that are all there at evaluation, such as ChannelSplit"
    )


def test_the_cost_is_that_of_a_step():
    one = population()[2]
    step = step_flops(one.method, IMAGE, one.settings.batch)
    assert refusal(one, IMAGE, flops=10.5 * step, steps=10) is None
    words = refusal(one, IMAGE, flops=9.5 * step, steps=10)
    assert words.startswith(f"cost: a step takes {step:.2g} operations; 10 of them have to fit in ")


def test_a_part_that_fails_by_itself_does_not_end_a_search(monkeypatch):
    monkeypatch.setattr("counterpoint.design.refusal.count_step", broken)
    assert refused(replace(population()[0])).endswith("needs another: out of luck")


def broken(*_given, **_settings):
    raise RuntimeError("out of luck")
