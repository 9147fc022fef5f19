"""A Ray cluster that cannot be joined is said in one sentence."""

import socket
import sys
from types import SimpleNamespace

import pytest

from counterpoint.failures import RunFailure
from counterpoint.ray_connection import joined_ray


@pytest.fixture
def no_cluster(monkeypatch):
    """Stand in for a Ray that starts no node."""

    def init(**_):
        raise Exception("The current node timed out during startup.")

    stand_in = SimpleNamespace(is_initialized=lambda: False, init=init)
    monkeypatch.setitem(sys.modules, "ray", stand_in)
    monkeypatch.delenv("RAY_ADDRESS", raising=False)


@pytest.fixture
def port():
    """Return a port of this machine where something listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.mark.usefixtures("no_cluster")
def test_a_cluster_that_does_not_start_is_no_bug_of_ours(port):
    for address in (None, "auto", f"127.0.0.1:{port}", f"ray://127.0.0.1:{port}"):
        place = address or "this machine"
        with pytest.raises(RunFailure, match=f"study: Ray cannot be joined at {place}: The curr"):
            joined_ray(address, what="study")


@pytest.mark.usefixtures("no_cluster")
@pytest.mark.parametrize("form", ["127.0.0.1:{}", "ray://127.0.0.1:{}", "[::1]:{}"])
def test_an_address_where_nobody_listens_is_said_before_ray_tries_for_minutes(form):
    with socket.create_server(("127.0.0.1", 0)) as server:
        free = server.getsockname()[1]
    with pytest.raises(RunFailure, match=r"cannot be joined at .*: \[Errno"):
        joined_ray(form.format(free), what="study")
