"""What is to be trained, and what a step of it counts."""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch

from counterpoint.data import ArraySource, Source
from counterpoint.framework import Method
from counterpoint.framework.records import Shape
from counterpoint.framework.settings import Training
from counterpoint.framework.wire import Exchange
from counterpoint.training.step_count import StepCount, count_step
from counterpoint.training.traffic import exchanges_of

PHOTO = 108_000.0
"""Bytes of a photo where nobody says: ImageNet-1k's 138 GB over 1,281,167 (Russakovsky et al. 2015,
and the sizes of its files)."""


@dataclass(frozen=True, slots=True)
class Workload:
    """A method, the images it sees, and how it is trained.

    >>> from counterpoint import simclr_small, training_of
    >>> work = Workload(
    ...     simclr_small(), (3, 32, 32), training_of("simclr-small"), 45_000, 100, "simclr-small"
    ... )
    >>> work.share(gpus=8)
    32
    """

    method: Method
    image: Shape
    training: Training
    images: int
    """In the data set."""
    steps: int
    name: str
    image_bytes: float = PHOTO

    @property
    def half(self) -> bool:
        return self.training.precision == "bf16-mixed"

    def share(self, gpus: int) -> int:
        """Return the images that a GPU works through at once; the largest share counts."""
        if self.training.micro_batch < gpus:
            raise ValueError(
                f"batch: {self.training.micro_batch:,} images for {gpus:,} GPUs; needs one a GPU "
                f"at least: --batch-size {gpus * self.training.accumulate}"
            )
        return -(-self.training.micro_batch // gpus)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data."""
        return {
            "method": self.name,
            "image": list(self.image),
            "images": self.images,
            "steps": self.steps,
            "batch": self.training.batch,
            "accumulate": self.training.accumulate,
            "precision": self.training.precision,
            "bytes of an image": self.image_bytes,
        }


@lru_cache(maxsize=64)
def counts_of(workload: Workload, gpus: int) -> tuple[StepCount, StepCount]:
    """Count a step of one of so many GPUs, and of one that is alone with as many images."""
    images = workload.share(gpus)

    def counted(ranks: int) -> StepCount:
        return count_step(
            workload.method,
            workload.image,
            images,
            ranks=ranks,
            half=workload.half,
            keep_gradient=gpus > 1,
        )

    alone = counted(1)
    return (alone if gpus == 1 else counted(gpus)), alone


@lru_cache(maxsize=64)
def exchanges_for(workload: Workload, gpus: int) -> tuple[Exchange, ...]:
    """Return what each of so many GPUs gives to all others in a step."""
    with torch.device("meta"):
        model = workload.method.build(image=workload.image)
    return exchanges_of(model, workload.training, ranks=gpus)


def absent_images(count: int, side: int) -> Source:
    """Return images without content, for a plan where there are none yet.

    >>> len(absent_images(10**9, 224))
    1000000000
    """
    blank = torch.zeros(1, 3, side, side, dtype=torch.uint8)
    return ArraySource("absent", blank.expand(count, -1, -1, -1))
