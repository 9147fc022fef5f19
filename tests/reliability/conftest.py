"""A nursery of warm processes, and a file of real images for them."""

import numpy as np
import pytest

from reliability.nursery import Nursery


@pytest.fixture(scope="session")
def few(cifar, tmp_path_factory):
    """The first real images in a file."""
    file = tmp_path_factory.mktemp("images") / "images.npy"
    np.save(file, cifar.train.images[:400].numpy())
    return file


@pytest.fixture(scope="session")
def nursery(few):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RELIABILITY_IMAGES", str(few))
        with Nursery() as found:
            yield found
