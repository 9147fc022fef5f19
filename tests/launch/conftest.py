"""A run that can be met in the middle, and the same one without anybody in its way."""

import functools

import pytest

from launch.paced_run import PacedRun


@pytest.fixture
def run(tmp_path, cifar):
    return PacedRun(tmp_path, cifar.train.images)


@pytest.fixture(scope="session")
def undisturbed(cifar, tmp_path_factory):
    """What the run leaves on two processes that nobody disturbs; made when it is asked for."""
    folder = tmp_path_factory.mktemp("undisturbed")
    return functools.cache(PacedRun(folder, cifar.train.images).undisturbed)
