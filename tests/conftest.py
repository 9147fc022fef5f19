"""Real data for tests; without it they are skipped, and .ci/run does not start."""

import os
from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def environment():
    """Undo what a test does to the environment: Lightning writes a master's address there."""
    before = dict(os.environ)
    yield
    for name in os.environ.keys() - before.keys():
        del os.environ[name]
    os.environ.update({n: text for n, text in before.items() if os.environ.get(n) != text})


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


@pytest.fixture(scope="session")
def photos(data):
    """Every eighth photo of caltech20, decoded, as (1, 3, height, width) bytes of varying size."""
    import numpy as np
    import torch
    from PIL import Image

    files = sorted((data / "caltech20").glob("*/*.jpg"))[::8]
    arrays = [np.array(Image.open(file).convert("RGB")) for file in files]
    return [torch.from_numpy(array).permute(2, 0, 1)[None] for array in arrays]


@pytest.fixture(scope="session")
def s3_server():
    """The S3 server and its proxy, for all tests of this process."""
    from stores_server.store import s3_store

    with s3_store() as store:
        yield store


@pytest.fixture
def s3(s3_server, monkeypatch):
    """A store that works, found by the environment; each test takes keys of its own."""
    for name, value in s3_server.environment.items():
        monkeypatch.setenv(name, value)
    s3_server.down(0)
    s3_server.break_it()
    yield s3_server
    s3_server.down(0)
    s3_server.break_it()
