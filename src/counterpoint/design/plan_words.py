"""What a search would take, before it is begun."""

from counterpoint.design.design_settings import REFERENCE, DesignSettings, ImageFacts, epoch_flops
from counterpoint.design.halving import round_cost
from counterpoint.report.words import duration

OTHER, PROBED = 6.0, 6.0
"""Seconds of a trial besides training: building and the criteria; a probe. Measured on a core of
2.5 GHz with images of 32 pixels and the narrow encoder."""


def plan_lines(
    settings: DesignSettings,
    ground: ImageFacts,
    hours: float,
    speed: float,
    rounds: int | None = None,
) -> list[str]:
    """Return a plan for cores that do `speed` operations a second each, as lines."""
    epoch = epoch_flops(ground, settings.encoder, settings.batch)
    lines = [
        f"{ground.count:,} images to train on; a full trial takes {settings.full:.2g} operations, "
        f"{settings.full / epoch:.2g} epochs of {REFERENCE}",
        f"planned for cores that do {speed / 1e9:.3g} x 10^9 a second (--speed)",
        "",
        f"{'':8}{'trials':>8}{'operations':>12}{'epochs':>8}{'a trial':>10}",
    ]
    seconds = 0.0
    for rung in settings.rungs:
        each = rung.budget.n / speed + OTHER + PROBED * len(settings.probes)
        seconds += each * rung.places
        lines.append(
            f"{f'rung {rung.number}':8}{rung.places:>8}{rung.budget.n:>12.2g}"
            f"{rung.budget.n / epoch:>8.2g}{duration(each * settings.cpus):>10}"
        )
    fit = max(1, int(hours * 3600 // seconds))
    ends = "" if rounds is None or rounds >= fit else f"; it ends after {rounds} (--rounds)"
    return [
        *lines,
        "",
        f"a round is {round_cost(settings.candidates):.3g} full trials, {duration(seconds)} of one "
        f"core; {hours:g} core-hours hold about {fit} rounds with "
        f"{fit * settings.candidates} candidates{ends}",
    ]
