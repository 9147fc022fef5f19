"""Real data for tests; without it they are skipped, and .ci/run does not start."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def data():
    """The folder of COUNTERPOINT_DATA."""
    place = os.environ.get("COUNTERPOINT_DATA")
    if not place:
        pytest.skip("COUNTERPOINT_DATA is not set: no real images")
    return Path(place).resolve()


@pytest.fixture(scope="session")
def cifar(data):
    """CIFAR-10, split as in the paper."""
    from counterpoint.data import cifar10

    return cifar10(data / "cifar10")
