"""Is what a search found really ahead? Trials with fresh seeds that a study runs."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from counterpoint.design.candidate import Candidate
from counterpoint.framework.records import Shape
from counterpoint.study.budget import Budget, Flops, Images, StepCost
from counterpoint.study.trial import Trial
from counterpoint.training.cost import step_flops

TOP = 3  # candidates that are confirmed: our choice
SEEDS = 5  # our choice
PROBES = ("knn", "linear")
OPERATIONS, IMAGES = "equal operations", "equal images"
Role = Literal["found", "shipped", "random"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A candidate with the name that it has in the table of a confirmation."""

    name: str
    role: Role
    candidate: Candidate


def contenders(
    found: Sequence[Candidate], shipped: Sequence[Candidate], random: Candidate | None = None
) -> list[Contender]:
    """Name those that are compared: what was found, shipped methods, and a random search's best.

    What comes up twice is run once, under its first name.

    >>> from counterpoint.methods import byol_small, simclr_small
    >>> one, other = (
    ...     Candidate(method=make(), training=(), change=make.__name__)
    ...     for make in (byol_small, simclr_small)
    ... )
    >>> [some.name for some in contenders([one], [other], one)]
    ['found 1', 'simclr_small']
    """
    named = [
        Contender(name=f"found {place}", role="found", candidate=one)
        for place, one in enumerate(found, start=1)
    ]
    named += [Contender(name=one.change, role="shipped", candidate=one) for one in shipped]
    if random is not None:
        named.append(Contender(name="best of a random search", role="random", candidate=random))
    once: dict[str, Contender] = {}
    for one in named:
        once.setdefault(one.candidate.fingerprint, one)
    return list(once.values())


def fresh_seeds(used: Collection[int], count: int = SEEDS) -> list[int]:
    """Return the first seeds that a search did not use.

    >>> fresh_seeds({0, 2}, 3)
    [1, 3, 4]
    """
    return [seed for seed in range(count + len(used)) if seed not in used][:count]


def images_seen(candidate: Candidate, budget: Budget, image: Shape) -> int:
    """Count the images that a candidate sees with a budget."""
    batch = candidate.settings.batch
    step = StepCost(batch, step_flops(candidate.method, image, batch))
    return budget.steps(step) * batch


def confirmation_trials(
    named: Sequence[Contender],
    pattern: Trial,
    *,
    full: float,
    images: int,
    seeds: Sequence[int],
    data: str,
) -> list[Trial]:
    """Return the trials of every contender with every seed, by operations and by images.

    `pattern` has what all trials share, such as the images and the side they are cut to. `full`
    is the number of operations of one trial, `images` the number of images in the other column:
    what the first shipped method sees with `full`. Test images are read by the probes here, and
    nowhere before. `data` is the name of the images in the columns.

    Methods with cheaper steps see more images at equal operations; with larger batches or more
    views they compute more at equal images. A method that is ahead in one column only has
    traded one for the other.
    """
    budgets: tuple[tuple[str, Budget], ...] = ((OPERATIONS, Flops(full)), (IMAGES, Images(images)))
    shared = replace(pattern, probes=PROBES, criteria=(), untested=False, labelled=None)
    return [
        replace(
            shared,
            name=f"confirm {one.name}",
            row=one.name,
            column=f"{data}, {words}",
            method=one.candidate.method.to_json(),
            training=one.candidate.training,
            budget=budget,
            seed=seed,
        )
        for words, budget in budgets
        for one in named
        for seed in seeds
    ]
