"""A recipe: how a method is composed, and how it is trained.

The rates, batches and epochs of the `-small` recipes are first guesses: none was tuned yet,
except those of SimCLR (docs/results.md).
"""

from collections.abc import Callable
from dataclasses import dataclass

from counterpoint.framework import Method
from counterpoint.framework.settings import Training


@dataclass(frozen=True, slots=True)
class Recipe:
    """A composition for images of any size, and the training settings that go with it."""

    compose: Callable[..., Method]
    training: Training
