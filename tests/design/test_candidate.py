"""A candidate as data: its JSON, its fingerprint, and what a trial makes of it."""

from dataclasses import fields, replace

import pytest

from counterpoint.design.candidate import Candidate, training_pairs
from counterpoint.framework.settings import MACHINE, Training
from counterpoint.methods import RECIPES, simclr_small
from counterpoint.parts.losses import Triplet
from counterpoint.study.budget import Images
from counterpoint.study.trial import Trial
from counterpoint.study.trial_job import absent, job_of


def candidate(name="simclr-small", **changes):
    recipe = RECIPES[name]
    training = training_pairs(replace(recipe.training, **changes))
    return Candidate(method=recipe.compose(size=32), training=training, change=name)


@pytest.mark.parametrize("name", [name for name in RECIPES if name.endswith("-small")])
def test_a_candidate_round_trips(name):
    one = candidate(name)
    read = Candidate.from_json(one.to_json())
    assert read == one
    assert read.fingerprint == one.fingerprint
    assert read.settings == replace(RECIPES[name].training)


def test_every_other_setting_of_training_is_kept():
    left_out = {"seed", "lanes", "block_shards", *MACHINE}
    assert {name for name, _ in candidate().training} | left_out == {
        place.name for place in fields(Training)
    }


def test_the_fingerprint_is_of_method_and_training_alone():
    one = candidate()
    assert replace(one, parents=("0" * 16,), change="x").fingerprint == one.fingerprint
    assert candidate(lr=7e-3).fingerprint != one.fingerprint
    assert candidate(seed=7).fingerprint == one.fingerprint
    other = replace(one, method=simclr_small().swap(loss=Triplet()))
    assert other.fingerprint != one.fingerprint
    assert candidate(warmup=0).fingerprint == candidate(warmup=0.0).fingerprint


def test_a_trial_trains_a_candidate_as_it_says():
    one = candidate("amdim-small", lr=5e-4, betas=(0.7, 0.9))
    trial = Trial(
        method=one.method.to_json(), data="", budget=Images(1), seed=3, training=one.training
    )
    job = job_of(trial, absent(trial))
    assert job.method == one.method
    assert replace(job.training, seed=0) == one.settings


def test_json_of_something_else_is_refused():
    with pytest.raises(ValueError, match="JSON of Method, not of a candidate"):
        Candidate.from_json(simclr_small().to_json())
