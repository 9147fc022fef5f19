"""A recipe: how a method is composed, and how it is trained."""

from collections.abc import Callable
from dataclasses import dataclass

from counterpoint.framework import Method
from counterpoint.framework.training import Training


@dataclass(frozen=True, slots=True)
class Recipe:
    """A composition for images of any size, and the training settings that go with it."""

    compose: Callable[..., Method]
    training: Training
