"""A search without training: real candidates, whose figures follow from their parts."""

import hashlib
from random import Random

from counterpoint.design import search_start
from counterpoint.design.design_settings import DesignSettings, trial_of
from counterpoint.design.evolution import next_round
from counterpoint.design.halving import promoted
from counterpoint.design.population import known
from counterpoint.design.search_files import TRIALS, write_round
from counterpoint.design.searched import Searched
from counterpoint.framework.method import FIVE
from counterpoint.methods.kinship import short_parts
from counterpoint.parts.encoders import NarrowResNet
from counterpoint.study import Cost, Outcome, ResultStore

WEIGHTS = dict(zip(FIVE, (0.25, 0.05, 0.15, 0.2, 0.35), strict=True))
"""How much each part decides."""
ENCODER = NarrowResNet(widths=(8, 16), blocks=(1, 1), stride=2)


def worth(kind):
    """A number between 0 and 1 that a kind of part always has."""
    return int(hashlib.sha256(kind.encode()).hexdigest()[:8], 16) / 2**32


def goodness_of(candidate):
    kinds = zip(FIVE, short_parts(candidate.method), strict=True)
    return sum(WEIGHTS[part] * worth(kind) for part, kind in kinds)


def refused(candidate):
    """Refuse one in seven, for the words that a real refusal has."""
    if int(candidate.fingerprint[:6], 16) % 7 == 0:
        return "extraction: got feature maps of 2 places, needs 3; use another encoder"
    if int(candidate.fingerprint[:6], 16) % 23 == 0:
        return "cost: a step takes 2.1e+11 operations; 10 of them have to fit in 1.1e+12"
    return None


def outcome_of(candidate, rung, settings):
    trial = trial_of(candidate, rung, settings)
    rng = Random(f"{candidate.fingerprint} {rung.number}")
    good = goodness_of(candidate) + 0.02 * rung.number
    if rng.random() < 0.03:
        error = "RuntimeError: loss is not finite at step 12\nin a batch of 64"
        return Outcome(trial=trial, fingerprint=trial.fingerprint, state="failed", error=error)
    figures = {name: good + rng.gauss(0, 0.08) for name in trial.criteria}
    figures |= {
        f"{probe} validation": 0.2 + 0.6 * good + rng.gauss(0, 0.02) for probe in trial.probes
    }
    return Outcome(
        trial=trial,
        fingerprint=trial.fingerprint,
        figures=figures | {"collapsed": float(rng.random() < 0.08)},
        cost=Cost(images=4_800, steps=75, flops=rung.budget.n, seconds=40.0 * 3**rung.number),
        data="same",
    )


def searched(*, rounds=3, size=27, few=None, **changes):
    """Search for some rounds, from a few known methods or all; `changes` are settings."""
    usual = {"data": "photos", "full": 9e12, "candidates": size, "criteria": ("rotation-folds",)}
    settings = DesignSettings(**usual | changes)
    found, pool = Searched(settings), known(32, ENCODER)[:few]
    for number in range(rounds):
        made = next_round(
            0,
            number,
            found.judged(),
            pool,
            refused,
            size=size,
            seen=found.seen,
            strategy=settings.strategy,
        )
        found.rounds.append(made)
        going = list(made.candidates)
        for rung in settings.rungs:
            if rung.number:
                scores = found.standing(rung.number - 1)
                own = {one.fingerprint: scores[one.fingerprint] for one in going}
                names = promoted(own, rung.places)
                going = [one for one in going if one.fingerprint in names]
            for one in going:
                found.outcomes[one.fingerprint, rung.number] = outcome_of(one, rung, settings)
    return found


def written(found, out):
    """Write a search as it is on a disk."""
    for number, made in enumerate(found.rounds):
        write_round(found.settings, out, number, made)
    store = ResultStore(str(out / TRIALS))
    for one in found.outcomes.values():
        store.keep(one)
    return out


def pretend_ground(monkeypatch, few=None):
    """Let a search start as `searched` does: with its pool, and with what it refuses."""
    monkeypatch.setattr(search_start, "known", lambda *_, **__: known(32, ENCODER)[:few])
    monkeypatch.setattr(search_start, "refusal", lambda candidate, *_, **__: refused(candidate))
