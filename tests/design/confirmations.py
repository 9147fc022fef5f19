"""Outcomes as a confirmation might have: contenders, seeds, and which test images were right."""

from zlib import crc32

import torch

from counterpoint.evaluation.scores import bitmap
from counterpoint.study import Cost, Flops, Outcome, Trial

TESTED = 400


def outcome(row, seed, *, column="photos, equal operations", **accuracies):
    """The images that are right differ from seed to seed, and from row to row."""
    trial = Trial(
        method="simclr-small",
        data="photos",
        budget=Flops(1e12),
        seed=seed,
        probes=tuple(accuracies),
        name=row,
        row=row,
        column=column,
    )
    generator = torch.Generator().manual_seed(1000 * crc32(row.encode()) + seed)
    order = torch.rand(TESTED, generator=generator).argsort()
    right = {probe: order < round(share * TESTED) for probe, share in accuracies.items()}
    return Outcome(
        trial=trial,
        fingerprint=f"{row}{column}{seed}",
        figures={probe: float(some.double().mean()) for probe, some in right.items()},
        right={probe: bitmap(some) for probe, some in right.items()},
        tested=TESTED,
        cost=Cost(flops=1e12, images=9600, seconds=60.0),
        data="same",
    )
