"""What a search starts with: its pool of methods, its first round, and what it refuses."""

from dataclasses import replace

from counterpoint.design.candidate import Candidate
from counterpoint.design.design_settings import REFERENCE, DesignSettings, ImageFacts, image_facts
from counterpoint.design.evolution import Accept, ranked
from counterpoint.design.halving import rungs
from counterpoint.design.population import best_of_each_kind, known
from counterpoint.design.refusal import refusal
from counterpoint.design.search_files import read_earlier
from counterpoint.framework import Encoder
from counterpoint.methods import method_named
from counterpoint.study.trial import pairs


def pool_of(settings: DesignSettings, ground: ImageFacts) -> list[Candidate]:
    """Return the known methods as candidates, with the encoder and the batch of the search."""
    methods = known(ground.side, _bare(settings, ground), without=settings.without)
    if settings.batch is None:
        return methods
    return [
        replace(one, training=pairs(dict(one.training) | {"batch": settings.batch}))
        for one in methods
    ]


def shipped_that_fit(settings: DesignSettings) -> list[Candidate]:
    """Return the known methods that a search does not refuse, whether it ran them or not."""
    ground = image_facts(settings.data, size=settings.size, limit=settings.limit)
    accept = accept_of(settings, ground, halved=False)  # rivals are only run in full
    fitting = [one for one in pool_of(settings, ground) if accept(one) is None]
    if not fitting:
        raise ValueError(
            "design: all shipped methods take too many operations for trials of this length, or "
            "larger batches than there are images; search with more --full-epochs, or with a "
            "smaller --batch-size"
        )
    return fitting


def first_of(settings: DesignSettings, ground: ImageFacts) -> list[Candidate] | None:
    """Return the first round of a search that follows an earlier one; None if none did."""
    if settings.earlier is None:
        return None
    if settings.strategy == "random":
        raise ValueError(
            "design: a random search takes nothing from an earlier one; leave out --earlier"
        )
    best = [one.candidate for one in ranked(read_earlier(settings.earlier).judged())]
    encoder = _bare(settings, ground)
    return best_of_each_kind(best, settings.candidates, side=ground.side, encoder=encoder)


def _bare(settings: DesignSettings, ground: ImageFacts) -> Encoder:
    """Return the encoder of a search: SimCLR takes it without a twin or a head around it."""
    return method_named(REFERENCE, size=ground.side, encoder=settings.encoder).encoder


def accept_of(settings: DesignSettings, ground: ImageFacts, *, halved: bool) -> Accept:
    """Return what refuses candidates: too large a batch, parts that do not fit, a long step.

    A step is too long for the first trials of a round, which are short where it is `halved`.
    """
    first = rungs(settings.candidates, settings.full, halved=halved)[0].budget.n

    def accept(candidate: Candidate) -> str | None:
        batch = candidate.settings.batch
        if batch > ground.count:
            return f"batch: got {batch} images of {ground.count}"
        try:
            return refusal(candidate, ground.image, flops=first, steps=settings.least_steps)
        except Exception as error:  # noqa: BLE001 (a composition nobody thought of is no end)
            return f"{type(error).__name__}: {error}"

    return accept
