"""Candidates of a small family: a known method, its changes and a crossover."""

from dataclasses import replace

from counterpoint.design.candidate import Candidate, training_pairs
from counterpoint.methods import moco_small, simclr_small, training_of
from counterpoint.parts.losses import Sigmoid, Triplet


def known(make, name):
    training = training_pairs(training_of(name))
    return Candidate(method=make(), training=training, change=name)


def child(parent, change, *others, **parts):
    """Swap parts of a parent; `others` are further parents."""
    parents = (parent.fingerprint, *(one.fingerprint for one in others))
    return replace(parent, method=parent.method.swap(**parts), parents=parents, change=change)


SIMCLR = known(simclr_small, "simclr-small")
MOCO = known(moco_small, "moco-small")
TRIPLET = child(SIMCLR, "loss: Triplet()", loss=Triplet())
CROSSED = child(TRIPLET, "similarity of moco-small", MOCO, similarity=MOCO.method.similarity)
BEST = child(CROSSED, "loss: Sigmoid()", loss=Sigmoid())
FAMILY = {one.fingerprint: one for one in (SIMCLR, MOCO, TRIPLET, CROSSED, BEST)}


def by_name(**values):
    """Values by the fingerprints of SIMCLR, MOCO, TRIPLET, CROSSED and BEST."""
    return {globals()[name.upper()].fingerprint: value for name, value in values.items()}
