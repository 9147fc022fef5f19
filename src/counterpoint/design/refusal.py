"""Why a candidate cannot work, found before anything runs."""

import torch

from counterpoint.design.candidate import Candidate
from counterpoint.evaluation.representation import Representation
from counterpoint.framework import PartError
from counterpoint.framework.records import Shape
from counterpoint.training.step_count import count_step

SCORES = 8 << 20
"""Scores that are walked to count a step; of more only a share, since here a few per cent do."""


def refusal(candidate: Candidate, image: Shape, *, flops: float, steps: int) -> str | None:
    """Return why a candidate cannot be trained on images of a shape; None if it may be.

    It is built and evaluated, and a step of it is counted, on the meta device, without data or
    memory: a part that does not fit says so. `steps` of them have to fit into `flops` operations.

    >>> from dataclasses import replace
    >>> from counterpoint import NarrowResNet, Regression
    >>> from counterpoint.design.population import known
    >>> simclr = known(32, NarrowResNet(widths=(8, 16), blocks=(1, 1)))[2]
    >>> refusal(simclr, (3, 32, 32), flops=1e12, steps=10)
    >>> refusal(simclr, (3, 32, 32), flops=1e12, steps=2000)
    'cost: a step takes 1e+09 operations; 2000 of them have to fit in 1e+12'
    >>> other = replace(simclr, method=simclr.method.swap(loss=Regression()))
    >>> refusal(other, (3, 32, 32), flops=1e12, steps=10)
    'loss: got scores with |s| <= 5.0, needs a plain cosine, |s| <= 1: ...'
    """
    try:
        step = _dry(candidate, image)
    except PartError as error:
        return str(error)
    if step * steps > flops:
        return f"cost: a step takes {step:.2g} operations; {steps} of them have to fit in {flops:g}"
    return None


def _dry(candidate: Candidate, image: Shape) -> float:
    """Embed an image, and count the operations of a step."""
    try:
        _embed(candidate, image)
        batch = candidate.settings.batch
        return count_step(candidate.method, image, batch, views=False, area=SCORES).flops
    except PartError:
        raise
    except Exception as error:  # a search of hours does not end by a part that forgot to say it
        raise PartError("method", got=str(candidate.method), needs=f"another: {error}") from error


def _embed(candidate: Candidate, image: Shape) -> None:
    """Run what an evaluation runs: it may have fewer views than training."""
    with torch.device("meta"):
        model = candidate.method.build(image=image)
        shapes = model.views.evaluation.shapes
        Representation(model).encoded(tuple(torch.empty(2, *shape) for shape in shapes))
