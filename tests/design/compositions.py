"""Candidates for tests: known ones with a tiny encoder, and others made of them."""

from dataclasses import replace
from functools import cache
from random import Random

from counterpoint.design.crossover import crossed
from counterpoint.design.population import known
from counterpoint.design.variation import mutated, random_candidate
from counterpoint.parts.encoders import NarrowResNet

SIDE = 32
IMAGE = (3, SIDE, SIDE)
BATCH = 16


@cache
def population():
    return tuple(known(SIDE, NarrowResNet(widths=(8, 16, 32))))


@cache
def composed(count, seed=0):
    """Mutations, crossovers, random candidates, and mutations of mutations, in turn."""
    pool, rng = population(), Random(seed)
    found = []
    while len(found) < count:
        parent = rng.choice(pool)
        match len(found) % 4:
            case 0:
                found.append(mutated(parent, pool, rng))
            case 1:
                found.append(crossed(*different(pool, rng), rng))
            case 2:
                found.append(random_candidate(pool, rng))
            case 3:
                found.append(mutated(mutated(parent, pool, rng), pool, rng))
    return tuple(found)


def different(pool, rng):
    """Two known methods that differ in two parts at least."""
    while True:
        one, other = rng.sample(pool, 2)
        same = [getattr(one.method, n) == getattr(other.method, n) for n in one.method.__slots__]
        if sum(same) <= 3:
            return one, other


def in_small_batches(candidate):
    """The same candidate with a batch that a test can train on."""
    training = dict(candidate.training) | {"batch": BATCH}
    return replace(candidate, training=tuple(sorted(training.items())))
