"""The checks of types and shapes find what they are for."""

import sys

import pytest
import torch
from beartype.roar import BeartypeCallHintParamViolation, BeartypeCallHintReturnViolation

from type_checks import install

MODULE = """
from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor


def product(a: Float[Tensor, "row k"], b: Float[Tensor, "k column"]) -> Float[Tensor, "row column"]:
    return a @ b


def wrong(a: Float[Tensor, "row k"]) -> Float[Tensor, "k row"]:
    return a


def line(count: int) -> Float[Tensor, " {count}"]:
    return torch.zeros(3)


def total(numbers: list[int]) -> int:
    return sum(numbers)


@dataclass(frozen=True, slots=True)
class Pair:
    one: Float[Tensor, " n"]
    two: Float[Tensor, " n"]

    @property
    def name(self) -> str:
        return 3

    @staticmethod
    def half(n: int) -> float:
        return n / 2
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    place = tmp_path_factory.mktemp("checked")
    (place / "checked_example.py").write_text(MODULE)
    sys.path.insert(0, str(place))
    install("checked_example")
    yield __import__("checked_example")
    sys.path.remove(str(place))
    assert not (place / "__pycache__").exists()


def test_what_fits_passes(small):
    assert small.product(torch.ones(2, 3), torch.ones(3, 4)).shape == (2, 4)
    assert small.product(torch.ones(5, 6), torch.ones(6, 7)).shape == (5, 7)  # sizes of each call
    assert small.line(3).shape == (3,)
    assert small.total([1, 2]) == 3
    assert small.Pair.half(3) == 1.5


def test_sizes_of_arguments_that_differ_are_found(small):
    with pytest.raises(BeartypeCallHintParamViolation):
        small.product(torch.ones(2, 3), torch.ones(4, 5))


def test_the_size_of_what_is_returned_is_checked(small):
    with pytest.raises(BeartypeCallHintReturnViolation):
        small.wrong(torch.ones(2, 3))
    with pytest.raises(BeartypeCallHintReturnViolation):
        small.line(4)


def test_fields_properties_and_items_are_checked(small):
    with pytest.raises(BeartypeCallHintParamViolation):
        small.Pair(torch.ones(2), torch.ones(3))
    with pytest.raises(BeartypeCallHintReturnViolation):
        _ = small.Pair(torch.ones(2), torch.ones(2)).name
    with pytest.raises(BeartypeCallHintParamViolation):
        small.Pair.half("3")
    with pytest.raises(BeartypeCallHintParamViolation):
        small.total(["one"])


def test_the_package_is_checked():
    from counterpoint.evaluation.knn import knn

    with pytest.raises(BeartypeCallHintParamViolation):
        knn(torch.ones(5, 3), torch.zeros(4, dtype=torch.int64), torch.ones(2, 3), k=1)
