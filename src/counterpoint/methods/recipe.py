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
    """A composition for images of any size, and the training settings that go with it.

    >>> from counterpoint.methods import RECIPES
    >>> print(RECIPES["simclr"].compose(size=64).encoder)
    ResNet(name='resnet50', stem='small', zero_init=True)
    >>> RECIPES["simclr"].training.optimiser
    'lars'
    """

    compose: Callable[..., Method]
    training: Training
