"""What a search would take, before it is begun."""

from counterpoint.design.design_settings import REFERENCE, DesignSettings, ImageFacts, epoch_flops
from counterpoint.design.halving import round_cost, rungs
from counterpoint.design.search_start import pool_of
from counterpoint.report.words import duration

OTHER, ROTATION_FOLDS, PROBED = 6.0, 3.5, 6e-4
"""Seconds of a trial besides training: building and the criteria that every trial has; the rotation
probe in folds; a probe, for each image that it reads. Measured on a core of 2.5 GHz with images of
32 pixels and the narrow encoder, with 10,000 images and with 50,000."""
HELD_OUT = 9  # images to train on for each to validate on: a tenth is held out


def plan_lines(
    settings: DesignSettings,
    ground: ImageFacts,
    hours: float,
    speed: float,
    rounds: int | None = None,
    halved: int | None = None,
) -> list[str]:
    """Return a plan for cores that do `speed` operations a second each, as lines."""
    epoch = epoch_flops(ground, settings.encoder, settings.batch)
    lines = [
        f"{ground.count:,} images to train on; a full trial takes {settings.full:.2g} operations, "
        f"{_epochs(settings.full / epoch)} of {REFERENCE}",
        f"planned for cores that do {speed / 1e9:.3g} x 10^9 a second (--speed)",
        "",
        f"{'':8}{'trials':>8}{'operations':>12}{'epochs':>8}{'a trial, of cores':>18}",
    ]
    probed = PROBED * _images_probed(settings, ground) * len(settings.probes)
    measuring = OTHER + (ROTATION_FOLDS if "rotation-folds" in settings.criteria else 0.0)
    kinds = [True] if halved is None else [True, False] if halved else [False]
    taken = dict.fromkeys(kinds, 0.0)
    more = _more_at_first(settings, ground)
    of_more = 0.0
    for kind in kinds:
        for place, rung in enumerate(rungs(settings.candidates, settings.full, halved=kind)):
            each = rung.budget.n / speed + measuring + probed
            taken[kind] += each * rung.places
            of_more += more * each if kind is kinds[0] and place == 0 else 0.0
            name = f"rung {rung.number}" if kind else "in full"
            lines.append(
                f"{name:8}{rung.places:>8}{rung.budget.n:>12.2g}"
                f"{rung.budget.n / epoch:>8.2g}{duration(each):>18}"
            )
    fit = _that_fit(taken, halved, hours * 3600 - of_more)
    ends = ""
    if rounds is not None and rounds < fit:
        all_of_them = of_more + sum(taken[halved is None or one < halved] for one in range(rounds))
        ends = (
            f"; it ends after {rounds} (--rounds): {rounds * settings.candidates + more} "
            f"candidates, {duration(all_of_them)} of one core"
        )
    for kind in kinds:
        lines += [
            "" if kind is kinds[0] else f"from round {halved} on, without halving:",
            f"a round is {round_cost(settings.candidates, halved=kind):.3g} full trials, "
            f"{duration(taken[kind])} of one core",
        ]
    if more:
        known = settings.candidates + more
        lines.append(f"the first round has all {known} known methods, {duration(of_more)} more")
    return [
        *lines,
        f"{hours:g} core-hours hold about {fit} rounds with {fit * settings.candidates + more} "
        f"candidates{ends}",
    ]


def _epochs(number: float) -> str:
    """Return a number of epochs in words."""
    shown = f"{number:.2g}"
    return f"{shown} epoch" if shown == "1" else f"{shown} epochs"


def _more_at_first(settings: DesignSettings, ground: ImageFacts) -> int:
    """Return how many candidates the first round has beyond those of the others."""
    if settings.strategy == "random" or settings.earlier is not None:
        return 0
    return max(0, len(pool_of(settings, ground)) - settings.candidates)


def _images_probed(settings: DesignSettings, ground: ImageFacts) -> int:
    """Return how many images a probe reads, to train and to validate."""
    return min(settings.labelled, ground.count) + min(settings.labelled, ground.count // HELD_OUT)


def _that_fit(taken: dict[bool, float], halved: int | None, seconds: float) -> int:
    """Return how many rounds fit into the seconds, one at least."""
    fit = 0
    while seconds > 0:
        seconds -= taken[halved is None or fit < halved]
        fit += seconds >= 0
    return max(1, fit)
