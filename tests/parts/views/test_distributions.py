"""Drawn parameters follow torchvision's own sampling: Kolmogorov-Smirnov on 100,000 draws."""

import numpy as np
import pytest
import torch
from scipy import stats
from torchvision.transforms import v2

from counterpoint.parts.views import (
    ColourJitter,
    GaussianBlur,
    Greyscale,
    HorizontalFlip,
    RandomResizedCrop,
    Solarise,
    Translation,
)
from drawing import numbers

DRAWS = 100_000
SURE = 1e-4


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(0)


def same(ours, theirs):
    return stats.ks_2samp(np.asarray(ours), np.asarray(theirs)).pvalue > SURE


@pytest.mark.parametrize(
    ("height", "width", "scale", "ratio"),
    [(32, 32, (0.08, 1.0), (3 / 4, 4 / 3)), (375, 500, (0.3, 1.0), (0.7, 1.4))],
)
def test_crop(height, width, scale, ratio):
    stage = RandomResizedCrop(24, scale, ratio)
    sides = (torch.full((DRAWS,), side) for side in (height, width))
    ours = torch.stack(stage.boxes(numbers(stage, DRAWS), *sides), dim=1)
    transform = v2.RandomResizedCrop(24, scale, ratio)
    image = torch.empty(3, height, width)
    drawn = [transform.make_params([image]) for _ in range(DRAWS)]
    theirs = torch.tensor([[d[key] for key in ("top", "left", "height", "width")] for d in drawn])
    for mine, other in zip(ours.T, theirs.T, strict=True):
        assert same(mine, other)
    assert same(ours[:, 2] * ours[:, 3], theirs[:, 2] * theirs[:, 3])
    assert not same(ours[:, 2] * 1.02, theirs[:, 2])  # two per cent would be seen


def test_jitter():
    stage = ColourJitter(0.8, 0.6, 1.4, 0.2, p=1.0)
    drawn = numbers(stage, DRAWS)
    ours, orders = stage.factors(drawn), stage.orders(drawn)
    transform = v2.ColorJitter(0.8, 0.6, 1.4, 0.2)
    theirs = [transform.make_params([]) for _ in range(DRAWS)]
    for kind, name in enumerate(("brightness", "contrast", "saturation", "hue")):
        assert same(ours[:, kind], [d[f"{name}_factor"] for d in theirs])
    code = orders @ torch.tensor([64, 16, 4, 1])
    counts = torch.bincount(code)
    assert (counts > 0).sum() == 24
    assert stats.chisquare(counts[counts > 0].numpy()).pvalue > SURE
    assert same(code, [d["fn_idx"].tolist() @ np.array([64, 16, 4, 1]) for d in theirs])


def test_blur():
    stage, transform = GaussianBlur(23, (0.1, 2.0)), v2.GaussianBlur(23, (0.1, 2.0))
    drawn = numbers(stage, DRAWS)
    ours = 0.1 + 1.9 * drawn[:, 1]
    assert same(ours, [transform.make_params([])["sigma"][0] for _ in range(DRAWS)])
    said = stage.words(drawn[:2000], (3, 224, 224))
    told = [float(words.split()[1]) for words in said if words]
    assert np.allclose(told, ours[:2000][drawn[:2000, 0] < 0.5], atol=0.051)


@pytest.mark.parametrize(
    ("stage", "p"),
    [
        (HorizontalFlip(0.5), 0.5),
        (Greyscale(0.2), 0.2),
        (Solarise(p=0.1), 0.1),
        (ColourJitter(0.4, 0.4, 0.4, 0.1, p=0.8), 0.8),
        (GaussianBlur(3, p=0.5), 0.5),
    ],
)
def test_how_often(stage, p):
    done = sum(bool(words) for words in stage.words(numbers(stage, DRAWS), (3, 32, 32)))
    assert stats.binomtest(done, DRAWS, p).pvalue > SURE


def test_translation():
    """Against amdim-public's sampling: whole numbers from -4 to 4, in four of five images."""
    stage, generator = Translation(4, p=0.8), np.random.default_rng(0)
    steps = generator.integers(-4, 5, (DRAWS, 2)) * (generator.random((DRAWS, 1)) < 0.8)
    for ours, theirs in zip(stage.shifts(numbers(stage, DRAWS)), steps.T, strict=True):
        assert same(ours, theirs)
