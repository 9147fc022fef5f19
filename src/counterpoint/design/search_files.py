"""The folder of a search: design.json, rounds/NNNN.json, and trials/ with an outcome for each.

outcomes.json has all outcomes in one file, as of when the search ended or was stopped: with it the
folder may be kept and resumed without trials/. confirmed.json is the same for a confirmation.
"""

import os
from pathlib import Path

from counterpoint.design.again import setting_words
from counterpoint.design.candidate import Candidate
from counterpoint.design.design_settings import DesignSettings, differing, trial_of
from counterpoint.design.evolution import Round
from counterpoint.design.searched import Searched
from counterpoint.framework import codec
from counterpoint.study.bundle import read_study
from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import FILE, ResultStore
from counterpoint.study.trial import Trial
from counterpoint.whole_file import write_whole

SETTINGS, ROUNDS, TRIALS, OUTCOMES = "design.json", "rounds", "trials", "outcomes.json"
CONFIRMED = "confirmed.json"


def has_begun(out: Path) -> bool:
    """Tell whether a folder has a search: one whose first round was written."""
    return round_file(out, 0).exists()


def refuse_another(settings: DesignSettings, out: Path) -> None:
    """Refuse a folder that has a search with other settings."""
    if not has_begun(out):
        return
    kept = read_settings(out)
    if other := differing(kept, settings):
        was, now = (setting_words(one, other[0]) for one in (kept, settings))
        raise ValueError(
            f"design: {out} has a search with {was}, and this one has {now}; give what it was "
            "begun with, or another --out"
        )


def read_settings(out: Path) -> DesignSettings:
    """Read what the search in a folder was begun with."""
    return DesignSettings.from_json((out / SETTINGS).read_text())


def round_file(out: Path, number: int) -> Path:
    """Return the file of a round."""
    return out / ROUNDS / f"{number:04d}.json"


def write_round(settings: DesignSettings, out: Path, number: int, made: Round) -> None:
    """Write a round: a candidate on each line, those that were refused, and how it is run.

    The settings come before the first one. From then on the folder has this search.
    """
    if number == 0:
        write_whole(out / SETTINGS, settings.to_json() + "\n")
    taken = ",\n".join(one.to_json() for one in made.candidates)
    refused = ",\n".join(
        codec.to_text({"candidate": codec.encode(one), "why": why}) for one, why in made.refused
    )
    halved = codec.to_text(made.halved)
    text = f'{{"candidates": [\n{taken}\n], "refused": [\n{refused}\n], "halved": {halved}}}\n'
    write_whole(round_file(out, number), text)


def read_round(out: Path, number: int) -> Round | None:
    """Read a round; None where it was not begun."""
    file = round_file(out, number)
    if not file.exists():
        return None
    content = codec.from_text(file.read_text())
    assert isinstance(content, dict)
    return Round(
        tuple(_candidate(one) for one in content["candidates"]),
        tuple((_candidate(one["candidate"]), one["why"]) for one in content["refused"]),
        content.get("halved", True),  # the first searches knew no other
    )


def read_design(out: Path) -> Searched:
    """Read a search, whether it has ended or not; nothing is written."""
    found = Searched(read_settings(out))
    store = ResultStore(str(out / TRIALS))
    bundled = _kept_outcomes(out)
    while (made := read_round(out, len(found.rounds))) is not None:
        found.rounds.append(made)
        for rung in found.settings.rungs_of(made):
            for candidate in made.candidates:
                trial = trial_of(candidate, rung, found.settings)
                outcome = outcome_of(trial, store) or bundled.get(trial.fingerprint)
                if outcome is not None:
                    found.outcomes[candidate.fingerprint, rung.number] = outcome
    return found


def read_earlier(place: str) -> Searched:
    """Read a search that another one was begun with."""
    folder = Path(os.path.expandvars(place))
    if not (folder / SETTINGS).exists():
        raise ValueError(f"design: {folder} has no search; --earlier takes the folder of one")
    return read_design(folder)


def folder_of_earlier(settings: DesignSettings) -> Path | None:
    """Return the folder of the search that this one was begun with, if it is still there."""
    if settings.earlier is None:
        return None
    folder = Path(os.path.expandvars(settings.earlier))
    return folder if (folder / SETTINGS).exists() else None


def seeds_used(settings: DesignSettings) -> set[int]:
    """Return the seeds of a search, and of those that it was begun with and that are there."""
    folder = folder_of_earlier(settings)
    earlier = set() if folder is None else seeds_used(read_settings(folder))
    return {settings.seed} | earlier


def whole_core_hours(found: Searched) -> float:
    """Return the core-hours of a search together with those of all that it was begun with."""
    if found.settings.earlier is None:
        return found.core_hours
    return found.core_hours + whole_core_hours(read_earlier(found.settings.earlier))


def unbundle(out: Path) -> dict[str, Outcome]:
    """Put the outcomes of outcomes.json back into trials/, those that are not there.

    Return all of them, by the trial's fingerprint.
    """
    restore_outcomes(out / OUTCOMES, ResultStore(str(out / TRIALS)))
    return _kept_outcomes(out)


def _kept_outcomes(out: Path) -> dict[str, Outcome]:
    file = out / OUTCOMES
    kept = read_study(str(file))[0] if file.exists() else []
    return {outcome.fingerprint: outcome for outcome in kept}


def restore_outcomes(file: Path, store: ResultStore) -> None:
    """Put the outcomes of a file into a store, those that are not there, and its plan if none is.

    A file that does not exist has none.
    """
    if not file.exists():
        return
    outcomes, planned = read_study(str(file))
    for outcome in outcomes:
        if outcome_of(outcome.trial, store) is None:
            store.keep(outcome)
    if not store.planned():
        store.plan([trial for _, trial in planned])


def outcome_of(trial: Trial, store: ResultStore) -> Outcome | None:
    """Read an outcome, also of a trial that failed.

    A study runs a failed trial again when it is started again. A search does not: what it found
    would then depend on how often it was interrupted.
    """
    file = store.workplace(trial) / FILE
    return Outcome.from_json(file.read_text()) if file.exists() else None


def _candidate(content: codec.Json) -> Candidate:
    return Candidate.from_json(codec.to_text(content))
