"""One row for every image: what to do with it, and why."""

from dataclasses import dataclass

from counterpoint.curation.curator import Curation

KEEP, LEAVE_OUT, LOOK = "keep", "leave out", "look"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do with one image.

    >>> Decision(3, "cat.jpg", LEAVE_OUT, "same file as dog.jpg", duplicate_of=1).decision
    'leave out'
    """

    sample: int
    path: str | None
    decision: str
    reasons: str
    """Why, in words; several are separated by semicolons."""
    split: str | None = None
    group: int | None = None
    """The first sample of its group of duplicates."""
    duplicate_of: int | None = None
    """The sample that is kept instead."""
    distance: float | None = None
    """To the nearest duplicate or what may be one, in units of the neighbourhood."""
    confidence: float | None = None
    """The share of all pairs that near which are expected to be duplicates."""
    closeness: float | None = None
    """The mean cosine to the nearest others: low for an outlier."""
    label: str | None = None
    looks_like: str | None = None
    """The label that the neighbours give it, where they contradict its own."""
    doubt: float | None = None


def decisions(found: Curation) -> list[Decision]:
    """Decide on every image, those that cannot be read included, in the order of samples.

    Images to look at are kept until somebody decides otherwise.

    >>> from counterpoint.curation.curator import curate
    >>> from counterpoint.vectors import Vectors
    >>> rows = decisions(curate(Vectors.open(vectors_folder)))
    >>> len(rows), {row.decision for row in rows} <= {KEEP, LEAVE_OUT, LOOK}
    (24, True)
    """
    vectors = found.vectors
    nearest = _nearest(found)
    suspects = set(found.suspects.tolist())
    odd, kept, group = found.outliers.tolist(), found.groups.kept.tolist(), found.groups.group
    names = [_name(found, row) for row in range(vectors.count)]
    samples = vectors.samples.tolist()
    rows = []
    for row, sample in enumerate(samples):
        near = nearest.get(row)
        reasons, decision = _reasons(found, row, names, near, odd=odd[row], suspect=row in suspects)
        rows.append(
            Decision(
                sample=sample,
                split=vectors.splits[row],
                path=vectors.paths[row],
                decision=decision,
                reasons="; ".join(reasons),
                group=samples[int(group[row])] if group[row] >= 0 else None,
                duplicate_of=samples[kept[row]] if kept[row] >= 0 else None,
                distance=None if near is None else round(near[1], 4),
                confidence=None if near is None else round(near[2], 4),
                closeness=round(float(found.closeness[row]), 4),
                label=_label(found, row),
                looks_like=_looks_like(found, row) if row in suspects else None,
                doubt=round(_doubt(found, row), 4) if row in suspects else None,
            )
        )
    for bad in vectors.unreadable:
        why = f"cannot be read: {bad.error}"
        rows.append(Decision(bad.sample, bad.path, LEAVE_OUT, why))
    return sorted(rows, key=lambda one: one.sample)


def _reasons(
    found: Curation,
    row: int,
    names: list[str],
    near: tuple[int, float, float] | None,
    *,
    odd: bool,
    suspect: bool,
) -> tuple[list[str], str]:
    """Return why, and what to do: what is left out is not looked at."""
    other = int(found.groups.kept[row])
    splits, reasons = found.vectors.splits, []
    if other >= 0:
        same = found.vectors.sha256[row] == found.vectors.sha256[other]
        word = "same file as" if same else "near-duplicate of"
        across = f", which is in {splits[other]}" if splits[other] != splits[row] else ""
        return [f"{word} {names[other]}{across}"], LEAVE_OUT
    if near is not None and near[1] > found.threshold.radius:
        reasons.append(f"may be a duplicate of {names[near[0]]}")
    if odd:
        reasons.append("unlike all others")
    if suspect:
        reasons.append(f"labelled {_label(found, row)}, looks like {_looks_like(found, row)}")
    if found.chosen is not None and not bool(found.chosen[row]):
        return [*reasons, "not selected"], LEAVE_OUT
    return reasons, LOOK if reasons else KEEP


def _nearest(found: Curation) -> dict[int, tuple[int, float, float]]:
    """Return for each row the nearest duplicate: its row, the distance and the confidence."""
    nearest: dict[int, tuple[int, float, float]] = {}
    for a, b in found.equal.tolist():
        nearest[a], nearest[b] = (b, 0.0, 1.0), (a, 0.0, 1.0)
    order = found.pairs.distance.argsort()
    pairs = zip(
        found.pairs.ends[order].tolist(),
        found.pairs.distance[order].tolist(),
        found.confidence[order].tolist(),
        strict=True,
    )
    for (a, b), distance, confidence in pairs:
        nearest.setdefault(a, (b, distance, confidence))
        nearest.setdefault(b, (a, distance, confidence))
    return nearest


def _name(found: Curation, row: int) -> str:
    return found.vectors.paths[row] or f"sample {int(found.vectors.samples[row])}"


def _label(found: Curation, row: int) -> str | None:
    labels = found.vectors.labels
    return None if labels is None or labels[row] < 0 else class_name(found, int(labels[row]))


def _looks_like(found: Curation, row: int) -> str | None:
    return None if found.verdicts is None else class_name(found, int(found.verdicts.best[row]))


def _doubt(found: Curation, row: int) -> float:
    return float("nan") if found.verdicts is None else float(found.verdicts.doubt[row])


def class_name(found: Curation, label: int) -> str:
    """Return the name of a label; its number where names are not known."""
    classes = found.vectors.classes
    return str(label) if classes is None else classes[label]


def counts(rows: list[Decision]) -> dict[str, int]:
    """Count decisions by word.

    >>> counts([])
    {'keep': 0, 'look': 0, 'leave out': 0}
    """
    return {word: sum(row.decision == word for row in rows) for word in (KEEP, LOOK, LEAVE_OUT)}
