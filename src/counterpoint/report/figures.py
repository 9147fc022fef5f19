"""The figure that a headline tells, and what may be said of it."""

from collections.abc import Sequence
from itertools import pairwise

import torch

from counterpoint.evaluation.protocol import FROZEN
from counterpoint.evaluation.scores import difference_interval, from_bitmap
from counterpoint.report.evaluation_record import Probe
from counterpoint.report.findings import Findings
from counterpoint.report.words import label_share, percent

Key = tuple[str, float]


def chosen_probe(runs: Sequence[Findings]) -> Key | None:
    """Choose the probe that every run has, with most labels, and best on validation.

    Validation decides, not the test: choosing by the test would flatter the figure. Probes of
    the frozen encoder come before fine-tuning, which measures something else.
    """
    measured = [
        {(p.name, p.fraction): p for p in run.evaluation.probes if p.test is not None}
        for run in runs
        if run.evaluation is not None
    ]
    shared = set.intersection(*(set(found) for found in measured)) if measured else set()
    if not shared:
        return None

    def worth(key: Key) -> tuple[bool, float, float]:
        reached = [found[key].validation or 0.0 for found in measured]
        return key[0] in FROZEN, key[1], sum(reached)

    return max(sorted(shared), key=worth)


def headline_probe(run: Findings, key: Key | None) -> Probe | None:
    """Return a run's probe of that kind."""
    return run.evaluation.probe(*key) if key and run.evaluation else None


def in_words(probe: Probe) -> str:
    """Say a figure as a sentence."""
    who = {
        "knn": "Nearest neighbours in the frozen encoder's space",
        "linear": "A linear probe on the frozen encoder",
        "mlp": "An MLP probe on the frozen encoder",
        "finetune": "The encoder, fine-tuned,",
    }.get(probe.name, f"The probe {probe.name}")
    right = "classify" if probe.name == "knn" else "classifies"
    share = "all" if probe.fraction == 1 else label_share(probe.fraction)
    known = f" (95 % interval {interval_words(probe)})" if interval_words(probe) else ""
    figure = f"{right} {percent(probe.test)} of the test images correctly{known}"
    return f"{who} {figure}, with {share} of the training labels."


def interval_words(probe: Probe) -> str:
    """Write the interval of a figure.

    The level is that of `counterpoint evaluate`: 95 %, over the test images.
    """
    if probe.low is None or probe.high is None:
        return ""
    return f"{100 * probe.low:.1f} to {percent(probe.high)}"


def started_words(run: Findings, probe: Probe) -> str:
    """Compare a figure with that of the weights it started from; nothing where it is not known."""
    before = started(run, probe)
    if before is None or before.test is None or probe.test is None:
        return ""
    given = run.job is not None and (run.job.start or run.job.weights)
    who = "The weights it started from reach" if given else "Random weights reach"
    gain = 100 * (probe.test - before.test)
    ends = _difference(probe, before)
    if ends is None:
        return f" {who} {percent(before.test)}."
    between = f"95 % interval {_signed(100 * ends[0])} to {_signed(100 * ends[1])}"
    if ends[0] <= 0 <= ends[1]:
        said = f"the difference of {_signed(gain)} points is within chance ({between})"
    else:
        said = f"training {'gave' if gain > 0 else 'took'} {abs(gain):.1f} points ({between})"
    return f" {who} {percent(before.test)}: {said}."


def started(run: Findings, probe: Probe) -> Probe | None:
    """Return the same probe of what a run started from, if it was measured."""
    return run.before.probe(probe.name, probe.fraction) if run.before else None


def _signed(points: float) -> str:
    return f"{points:+.1f}".replace("-", "\u2212")


def _difference(after: Probe, before: Probe) -> tuple[float, float] | None:
    """Return the interval of the difference, where it is known which images were right."""
    counts = [0 if p.confusion is None else sum(map(sum, p.confusion)) for p in (after, before)]
    images = {int(count) // p.seeds for count, p in zip(counts, (after, before), strict=True)}
    if len(images) != 1 or not (count := images.pop()):
        return None
    try:
        one, other = (
            torch.stack([from_bitmap(text, count=count) for text in probe.right])
            for probe in (after, before)
        )
    except (ValueError, RuntimeError):  # of another version, or damaged
        return None
    return difference_interval(one, other)


def guess(probe: Probe) -> float | None:
    """Return what a guess of the commonest class would reach, from the confusion matrix."""
    if probe.confusion is None:
        return None
    sizes = [sum(row) for row in probe.confusion]
    return max(sizes) / sum(sizes) if sum(sizes) else None


def clear_lead(probes: Sequence[Probe]) -> bool:
    """Tell whether the best figure's interval is apart from the second's."""
    ordered = sorted(probes, key=lambda p: p.test or 0.0, reverse=True)
    first, second = next(pairwise(ordered))
    return first.low is not None and second.high is not None and first.low > second.high
