"""A study as one file: its trials in their order, and what they found."""

import json
from typing import Any

import fsspec

from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.trial import Trial

Found = tuple[list[Outcome], list[tuple[str, Trial]]]
"""Outcomes, and a study's trials by fingerprint."""


def read_study(place: str) -> Found:
    """Read the folder of a study, or the one file that `bundled` made of it."""
    if not place.endswith(".json"):
        store = ResultStore(place)
        return store.every(), store.planned()
    with fsspec.open(place, "r") as file:
        content: dict[str, Any] = _whole(json.load(file), place)
    outcomes = [Outcome.from_json(json.dumps(one)) for one in content["outcomes"]]
    planned = [
        (one["fingerprint"], Trial.from_json(json.dumps(one["trial"]))) for one in content["trials"]
    ]
    return outcomes, planned


def _whole(content: Any, place: str) -> Any:
    """Refuse JSON of another kind, such as the study.json or the outcome.json of a folder."""
    lists = ("outcomes", "trials")
    if not isinstance(content, dict) or any(type(content.get(key)) is not list for key in lists):
        raise ValueError(
            f"study: {place} is not a study in one file; give the folder of the results, or a file "
            "written by counterpoint table --format json"
        )
    return content


def bundled(found: Found) -> str:
    """Write a study as one JSON file, an outcome or a trial on each line."""
    outcomes, planned = found
    lines = {
        "outcomes": [json.loads(outcome.to_json()) for outcome in outcomes],
        "trials": [{"fingerprint": f, "trial": json.loads(t.to_json())} for f, t in planned],
    }
    blocks = [
        f"{json.dumps(key)}: [\n" + ",\n".join(json.dumps(one) for one in some) + "\n]"
        for key, some in lines.items()
    ]
    return "{" + ",\n".join(blocks) + "}\n"
