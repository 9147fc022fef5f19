"""A Ray cluster that cannot be joined is said in one sentence."""

import sys
from types import SimpleNamespace

import pytest

from counterpoint.failures import RunFailure
from counterpoint.ray_connection import joined_ray


@pytest.mark.parametrize(
    ("address", "place"), [(None, "this machine"), ("10.0.0.1:6379", "10.0.0.1:6379")]
)
def test_a_cluster_that_does_not_start_is_no_bug_of_ours(monkeypatch, address, place):
    def init(**_):
        raise Exception("The current node timed out during startup.")

    stand_in = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)
    with pytest.raises(RunFailure, match=f"study: Ray cannot be joined at {place}: The current"):
        joined_ray(address, what="study")
