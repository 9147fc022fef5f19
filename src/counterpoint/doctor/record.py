"""What the doctor found, for programs."""

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from counterpoint.doctor.examination import LEVELS, Examination
from counterpoint.doctor.packages import Version
from counterpoint.doctor.suggestion import Suggestion


def doctor_record(
    seen: Examination, versions: Sequence[Version], suggestion: Suggestion | None
) -> dict[str, Any]:
    """Return everything as what JSON knows.

    >>> from counterpoint.data import open_data
    >>> from counterpoint.doctor.examination import examined
    >>> seen = examined(open_data(photos_folder), photos_folder)
    >>> doctor_record(seen, (), None)["formats"]
    {'PNG': 24}
    """
    return {
        "data": seen.data,
        "images": len(seen.images),
        "formats": dict(seen.formats()),
        "colours": dict(seen.colours()),
        "percentiles": list(LEVELS),
        "sizes": seen.sizes(),
        "broken": [{"name": name, "kind": kind} for name, kind in seen.broken],
        "unreadable_folders": list(seen.shut),
        "equal": _named(seen, seen.copies),
        "alike": _named(seen, seen.alike),
        "versions": [asdict(version) for version in versions],
        "suggestion": None if suggestion is None else asdict(suggestion),
    }


def _named(seen: Examination, groups: Sequence[Sequence[int]]) -> list[list[dict[str, str]]]:
    return [
        [{"split": seen.images[n].split, "name": seen.images[n].name} for n in group]
        for group in groups
    ]
