"""The figure that a headline tells, and what may be said of it."""

from collections.abc import Sequence
from itertools import pairwise

from counterpoint.evaluation.protocol import FROZEN
from counterpoint.report.evaluation_record import Probe
from counterpoint.report.findings import Findings
from counterpoint.report.words import percent

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
    share = "all" if probe.fraction == 1 else percent(probe.fraction, digits=0)
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
