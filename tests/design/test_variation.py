"""New candidates: what changes, what stays, and that a seed says it all."""

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from random import Random

from counterpoint.design.candidate import Candidate
from counterpoint.design.candidate_settings import image_side, label
from counterpoint.design.crossover import crossed
from counterpoint.design.settings_tree import nodes
from counterpoint.design.variation import mutated, random_candidate
from counterpoint.framework.method import FIVE
from counterpoint.parts.encoders.innermost import innermost
from design.compositions import BATCH, composed, in_small_batches, population


def differing(one, other):
    return [name for name in FIVE if getattr(one.method, name) != getattr(other.method, name)]


def test_a_composition_round_trips():
    for one in composed(80):
        assert Candidate.from_json(one.to_json()) == one
        assert one.change


def test_a_mutation_changes_one_part_or_the_training():
    pool, rng, kinds = population(), Random(7), Counter()
    for _ in range(150):
        parent = rng.choice(pool)
        child = mutated(parent, pool, rng)
        assert child.parents == (parent.fingerprint,)
        assert child.fingerprint != parent.fingerprint
        parts = differing(parent, child)
        trained = [a for a, b in zip(parent.training, child.training, strict=True) if a != b]
        assert (len(parts), len(trained)) in ((1, 0), (0, 1))
        place = parts[0] if parts else "training"
        assert child.change.startswith(f"{place}: ")
        kinds[place] += 1
    assert set(kinds) == {*FIVE, "training"}


def test_a_swapped_encoder_keeps_its_own_network():
    pool, rng = population(), Random(3)
    parent = next(one for one in pool if one.change == "simclr-small")
    twins = [mutated(parent, pool, rng) for _ in range(200)]
    swapped = [one for one in twins if "twin" in str(one.method.encoder)]
    assert swapped
    assert {innermost(one.method.encoder) for one in swapped} == {parent.method.encoder}


def test_every_candidate_has_the_network_that_was_given():
    """Width alone buys RankMe: a search that could widen the network would find nothing else."""
    (given,) = {innermost(one.method.encoder) for one in population()}
    for one in composed(80):
        inside = {node for node in nodes(one.method.encoder) if not hasattr(node, "of")}
        assert inside == {given}, one.change


def test_a_candidate_that_was_drawn_is_named_by_its_fingerprint():
    pool, rng = population(), Random(0)
    one, other = random_candidate(pool, rng), random_candidate(pool, rng)
    assert label(one) == one.fingerprint
    assert crossed(one, other, rng).change.endswith(f"the rest of {other.fingerprint}")
    assert label(pool[2]) == "simclr-small"


def test_random_candidates_are_drawn_from_the_whole_pool():
    pool, rng = population(), Random(0)
    found = [random_candidate(pool, rng) for _ in range(40)]
    assert len({one.fingerprint for one in found}) == 40
    assert len({type(one.method.loss).__name__ for one in found}) > 5
    assert all(image_side(one.method) == 32 for one in found)


def test_no_batch_is_larger_than_those_of_the_pool():
    """The pool's fit the data; a larger one may be more images than there are."""
    pool, rng = [in_small_batches(one) for one in population()[:5]], Random(0)
    found = [random_candidate(pool, rng) for _ in range(10)]
    found += [mutated(rng.choice(pool), pool, rng) for _ in range(60)]
    assert {one.settings.batch for one in found} == {BATCH}


ASK = """
from design.compositions import composed
print(*[one.fingerprint for one in composed(6, seed=5)])
"""


def test_a_seed_gives_the_same_candidates_in_every_process():
    tests = Path(__file__).parent.parent
    paths = os.pathsep.join([str(tests), *os.environ.get("PYTHONPATH", "").split(os.pathsep)])
    there = {**os.environ, "PYTHONPATH": paths, "PYTHONHASHSEED": "7"}
    said = subprocess.run(
        [sys.executable, "-c", ASK], env=there, capture_output=True, text=True, check=True
    )
    assert said.stdout.split() == [one.fingerprint for one in composed(6, seed=5)]
