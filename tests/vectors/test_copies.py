"""Copies for calibration: repeatable, of the kinds they claim, and near their originals."""

import pytest
import torch

from counterpoint.vectors.copies import COPY_KINDS, _draws, copied, copy_kind


@pytest.fixture(scope="module")
def photo():
    """Smooth waves of colour with an edge, 90 x 120."""
    y, x = torch.meshgrid(torch.arange(90.0), torch.arange(120.0), indexing="ij")
    waves = [torch.sin(x / 9), torch.cos(y / 7), torch.sin((x + y) / 11)]
    pixels = torch.stack(waves) * 90 + 128
    pixels[:, 30:60, 40:80] = 20.0
    return pixels.to(torch.uint8)


def test_a_copy_is_a_function_of_sample_copy_and_seed(photo):
    first = copied(photo, sample=5, copy=4, seed=2)
    assert torch.equal(first, copied(photo, sample=5, copy=4, seed=2))
    for sample, copy, seed in [(6, 4, 2), (5, 9, 2), (5, 4, 0)]:
        changed = copied(photo, sample=sample, copy=copy, seed=seed)
        assert changed.shape != first.shape or not torch.equal(changed, first)


def test_samples_above_32_bits_have_their_own_draws():
    assert _draws(7, 0, 0) != _draws(7 + (1 << 32), 0, 0)
    assert _draws(7, 0, 0) != _draws(7, 0, 1 << 32)


def test_each_kind_does_what_it_says(photo):
    _, high, wide = photo.shape
    for sample in range(20):
        by_kind = {copy_kind(n): copied(photo, sample=sample, copy=n) for n in range(5)}
        assert by_kind["re-encoded"].shape == photo.shape
        assert (by_kind["re-encoded"].float() - photo.float()).abs().mean() < 8
        _, h, w = by_kind["resized"].shape
        assert 0.29 <= h / high <= 0.91
        assert abs(h / high - w / wide) < 0.02
        _, h, w = by_kind["cropped"].shape
        assert 0.69 * high <= h <= high
        assert 0.69 * wide <= w <= wide
        assert by_kind["recoloured"].shape == photo.shape


def test_some_recoloured_copies_are_grey_and_most_are_not(photo):
    recoloured = COPY_KINDS.index("recoloured")
    grey = 0
    for sample in range(60):
        found = copied(photo, sample=sample, copy=recoloured).float()
        grey += bool((found[0] - found[1]).abs().mean() < 2)
    assert 4 <= grey <= 24  # 12 expected of a fifth; outside one time in a thousand


def test_one_channel_and_six_and_tiny_pictures_have_copies(photo):
    for kind in range(5):
        assert len(copied(photo[:1], sample=1, copy=kind)) == 1
        six = copied(torch.cat([photo, photo]), sample=1, copy=kind)
        assert len(six) == 6
        assert torch.equal(six[:3], six[3:])
        assert min(copied(photo[:, :9, :9], sample=1, copy=kind).shape[1:]) >= 8
        assert copied(photo[:, :1, :1], sample=1, copy=kind).shape == (3, 1, 1)
