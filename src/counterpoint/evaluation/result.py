"""What an evaluation found, as values that become JSON."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isfinite
from typing import Any

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.evaluation.scores import (
    bitmap,
    calibration_error,
    confusion,
    interval,
    per_class,
)
from counterpoint.notebook import html_table

PROBE_WORDS = {
    "knn": "weighted kNN",
    "linear": "linear probe",
    "mlp": "MLP probe",
    "finetune": "fine-tuned encoder",
}
"""The probes as people call them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeResult:
    """One probe on one share of the labels; accuracies are shares of the images.

    >>> one = ProbeResult(
    ...     name="knn", fraction=1.0, settings={"k": 20}, validation=0.64, test=0.63, spread=None,
    ...     low=0.62, high=0.64, seeds=(0,), calibration_error=0.1, per_class=(), confusion=(),
    ...     seconds=1.5,
    ... )
    >>> one.settings["k"], one.test
    (20, 0.63)
    """

    name: str
    fraction: float
    """Share of the training labels that the probe saw."""
    settings: Mapping[str, float | int]
    """Chosen on validation, for the first seed."""
    validation: float
    test: float
    """Mean over the seeds."""
    spread: float | None
    """Standard deviation over the seeds; None for one."""
    low: float
    high: float
    """Bootstrap interval of 95 % over the test images."""
    seeds: tuple[int, ...]
    calibration_error: float
    per_class: tuple[float, ...] = field(repr=False)
    confusion: tuple[tuple[int, ...], ...] = field(repr=False)
    """True classes in rows, predicted in columns, summed over the seeds."""
    right: tuple[str, ...] = field(default=(), repr=False)
    """For each seed which test images were predicted right: bits, as hexadecimal digits."""
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything that one evaluation found.

    >>> one = scored(
    ...     "knn", 1.0, [0], {"k": 20}, [0.5], [torch.eye(2)], torch.arange(2), seconds=1.5
    ... )
    >>> found = Result(
    ...     probes=(one,), width=256, map=None, classes=("cat", "dog"), robustness=None, seed=0,
    ...     left_out={}, seconds=2.0, peak_mb=900,
    ... )
    >>> found.probe("knn").test
    1.0
    """

    probes: tuple[ProbeResult, ...]
    width: int
    map: int | None
    """The map that was probed; None is the last before a projection head."""
    classes: tuple[str, ...] | None
    robustness: Mapping[str, Any] | None
    seed: int
    left_out: Mapping[str, int]
    """Images that cannot be read, by split: they are in none of the figures."""
    seconds: float
    peak_mb: float

    def __repr__(self) -> str:
        """One line a probe; `to_dict` has everything."""
        return "\n".join(
            f"{p.name} with {p.fraction:g} of the labels: test {p.test:.4f} "
            f"({p.low:.3f} to {p.high:.3f}), validation {p.validation:.4f}"
            for p in self.probes
        )

    def _repr_html_(self) -> str:
        """One row a probe, which is what a notebook shows."""
        head = ("probe", "labels", "test", "95 % interval", "validation")
        rows = [
            (
                p.name,
                f"{p.fraction:.4g}",
                f"{p.test:.4f}",
                f"{p.low:.3f} to {p.high:.3f}",
                f"{p.validation:.4f}",
            )
            for p in self.probes
        ]
        return html_table(rows, head=head)

    def probe(self, name: str, *, fraction: float = 1.0) -> ProbeResult:
        """Find a probe by its name."""
        for found in self.probes:
            if (found.name, found.fraction) == (name, fraction):
                return found
        there = ", ".join(f"{p.name} of {p.fraction:g}" for p in self.probes)
        raise KeyError(f"evaluation: no probe {name} of {fraction:g}; there are {there}")

    def to_dict(self) -> dict[str, Any]:
        """Return what JSON can hold: a class without test images has no accuracy (None)."""
        found = asdict(self)
        for probe in found["probes"]:
            probe["per_class"] = [x if isfinite(x) else None for x in probe["per_class"]]
        return found


def scored(
    name: str,
    fraction: float,
    seeds: Sequence[int],
    settings: Mapping[str, float | int],
    validation: Sequence[float],
    probabilities: Sequence[Float[Tensor, "sample class"]],
    true: Int64[Tensor, " sample"],
    seconds: float,
) -> ProbeResult:
    """Score the predictions of one probe, trained once for each seed."""
    predicted = torch.stack([p.argmax(dim=1) for p in probabilities])
    right = predicted == true
    each = right.double().mean(dim=1)
    low, high = interval(right)
    classes = max(probabilities[0].shape[1], int(true.max()) + 1)
    counts = torch.stack([confusion(p, true, classes=classes) for p in predicted]).sum(dim=0)
    errors = [calibration_error(p, true) for p in probabilities]
    return ProbeResult(
        name=name,
        fraction=fraction,
        settings=dict(settings),
        validation=sum(validation) / len(validation),
        test=float(each.mean()),
        spread=float(each.std()) if len(seeds) > 1 else None,
        low=low,
        high=high,
        seeds=tuple(seeds),
        calibration_error=sum(errors) / len(errors),
        per_class=tuple(per_class(counts).tolist()),
        confusion=tuple(map(tuple, counts.tolist())),
        right=tuple(map(bitmap, right)),
        seconds=seconds,
    )
