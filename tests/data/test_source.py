"""Images in memory: what an ArraySource takes, and what it says of the rest."""

import numpy as np
import pytest
import torch
from jaxtyping import config

from counterpoint.data import ArraySource


@pytest.fixture(autouse=True)
def as_users_run_it():
    """Without the checks of types that only tests have: users meet ours."""
    config.update("jaxtyping_disable", True)
    yield
    config.update("jaxtyping_disable", False)


BYTES = torch.zeros(4, 3, 8, 8, dtype=torch.uint8)


@pytest.mark.parametrize(
    ("images", "error", "said"),
    [
        (torch.rand(4, 3, 8, 8), ValueError, r"float32.*\(images \* 255\)\.round\(\)"),
        (torch.zeros(4, 3, 8, 8, dtype=torch.int64), ValueError, r"int64.*\.to\(torch\.uint8\)"),
        (np.zeros((4, 8, 8, 3), np.uint8), TypeError, r"numpy array.*torch\.from_numpy\(images\)"),
        ([BYTES], TypeError, "of type list; needs a tensor"),
        (BYTES[0], ValueError, r"\(3, 8, 8\), needs \(n, channels, height, width\)"),
        (BYTES.permute(0, 2, 3, 1), ValueError, r"channels are last.*permute\(0, 3, 1, 2\)"),
        (BYTES[:, :, :0], ValueError, "no pixels"),
    ],
)
def test_images_that_are_not_bytes_are_refused(images, error, said):
    with pytest.raises(error, match=f"data: the images of x are .*{said}"):
        ArraySource("x", images)


@pytest.mark.parametrize(
    ("labels", "error", "said"),
    [
        (np.zeros(4, np.int64), TypeError, r"torch\.from_numpy\(labels\)\.long\(\)"),
        ([0, 1, 2, 3], TypeError, r"torch\.tensor\(labels\)\.long\(\)"),
        (torch.zeros(3, dtype=torch.int64), ValueError, r"\(3,\), needs \(4,\)"),
        (torch.zeros(4, 1, dtype=torch.int64), ValueError, r"\(4, 1\), needs \(4,\)"),
        (torch.zeros(4), ValueError, r"float32, needs torch\.int64; labels\.long\(\)"),
        (torch.zeros(4, dtype=torch.int32), ValueError, r"labels\.long\(\)"),
        (torch.tensor([0, 1, -1, 2]), ValueError, "is -1, needs 0 and up"),
    ],
)
def test_labels_that_are_not_whole_numbers_are_refused(labels, error, said):
    with pytest.raises(error, match=f"data: .*of x .*{said}"):
        ArraySource("x", BYTES, labels)


def test_nothing_and_one_image_are_taken():
    assert len(ArraySource("none", BYTES[:0], torch.zeros(0, dtype=torch.int64))) == 0
    assert len(ArraySource("one", BYTES[:1, :1])) == 1
