"""Criteria without labels against loops, known answers and real images."""

import math

import pytest
import torch
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from counterpoint.evaluation.criteria import (
    cluster_learnability,
    intrinsic_dimension,
    mean_rank,
    quarter_turns,
    rotation_folds,
    rotation_probe,
    spearman,
)
from counterpoint.evaluation.criteria.cluster_learnability import prequential
from counterpoint.evaluation.criteria.ranking import ranks
from reference import criteria as reference


@pytest.mark.parametrize("seed", range(20))
def test_they_equal_the_loops(seed):
    generator = torch.Generator().manual_seed(seed)
    points = torch.randn(40, 3, generator=generator, dtype=torch.float64)
    points[7] = points[3]  # a duplicate
    groups = torch.randint(4, (40,), generator=generator)
    wanted = reference.prequential(points.tolist(), groups.tolist(), 7)
    assert prequential(points, groups, chunk=7) == wanted
    dimension = reference.two_neighbours(points.tolist())
    assert intrinsic_dimension(points) == pytest.approx(dimension, rel=1e-9)


def test_learnability_of_no_more_images_than_a_chunk_is_not_a_number():
    """Nothing was predicted; it was 0.0, as if all were wrong."""
    points, groups = torch.eye(2).repeat(32, 1), torch.arange(64) % 2
    assert math.isnan(prequential(points, groups))
    assert prequential(torch.cat([points, points[:1]]), torch.cat([groups, groups[:1]])) == 1.0


@pytest.mark.parametrize("dimension", [2, 5, 10])
def test_the_dimension_of_a_cube_is_found_in_a_larger_space(dimension):
    generator = torch.Generator().manual_seed(dimension)
    cube = torch.rand(3000, dimension, generator=generator, dtype=torch.float64)
    turned = torch.linalg.qr(torch.randn(64, dimension, generator=generator).double())[0]
    assert intrinsic_dimension(cube @ turned.T) == pytest.approx(dimension, rel=0.15)


def test_a_collapsed_encoder_has_neither():
    points = torch.ones(200, 8)
    assert math.isnan(intrinsic_dimension(points))
    assert rotation_probe(points) == rotation_folds(points) == 0.25


def test_a_single_image_has_no_folds():
    assert math.isnan(rotation_folds(torch.randn(4, 8)))
    assert rotation_folds(torch.eye(4).repeat_interleave(2, dim=0)) == 1.0  # of two it has two


def test_noise_has_clusters_that_nobody_can_learn(cifar):
    generator = torch.Generator().manual_seed(0)
    noise = torch.randn(1000, 64, generator=generator)
    shape = torch.nn.functional.avg_pool2d(cifar.train.images[:1000].float(), 4).flatten(1)
    assert cluster_learnability(shape - shape.mean(0)) > 2 * cluster_learnability(noise)


def test_pixels_know_which_way_up_they_are(cifar):
    small = torch.nn.functional.avg_pool2d(quarter_turns(cifar.train.images[:500]).float(), 8)
    assert rotation_probe(small.flatten(1)) > 0.35  # the sky is above; guessing gives 0.25


@pytest.mark.parametrize("seed", range(3))
def test_the_rotation_probe_in_folds_equals_one_of_another_library(seed):
    generator = torch.Generator().manual_seed(seed)
    turn = torch.nn.functional.one_hot(torch.arange(4)).repeat_interleave(43, dim=0).double()
    points = torch.randn(172, 6, generator=generator, dtype=torch.float64)
    points[:, :4] += turn
    right = 0
    for fold in range(5):
        asked = [4 * [n % 5 == fold for n in range(43)]][0]
        known = [not one for one in asked]
        scale = StandardScaler().fit(points[known])
        scale.scale_ = points[known].std(dim=0).numpy()  # over n - 1, as ours
        probe = LogisticRegression(C=1 / (1e-2 * sum(known)), tol=1e-8, max_iter=1000)
        probe.fit(scale.transform(points[known]), turn.argmax(dim=1)[known])
        wanted = turn.argmax(dim=1)[asked].numpy()
        right += (probe.predict(scale.transform(points[asked])) == wanted).sum()
    assert 0.3 < right / 172 < 0.9
    assert rotation_folds(points) == pytest.approx(right / 172, abs=1e-9)


def test_wide_noise_costs_the_rotation_probe_less_in_folds():
    """With few cases the probe learned the noise of wide vectors: the same vectors with noise
    appended, which holds nothing else, were far behind."""
    generator = torch.Generator().manual_seed(0)
    turn = torch.nn.functional.one_hot(torch.arange(4)).repeat_interleave(1000, dim=0).float()
    narrow = torch.randn(4000, 4, generator=generator) + turn
    wide = torch.cat([narrow, torch.randn(4000, 252, generator=generator)], dim=1)
    few = (torch.arange(4000) % 1000) < 250
    lost = rotation_probe(narrow[few]) - rotation_probe(wide[few])
    assert lost > 0.1
    assert rotation_folds(narrow) - rotation_folds(wide) < lost / 2


def test_ranks_and_their_correlation():
    generator = torch.Generator().manual_seed(1)
    one = torch.randint(8, (30,), generator=generator).double().tolist()  # with ties
    other = torch.randn(30, generator=generator).double().tolist()
    assert spearman(one, other) == pytest.approx(spearmanr(one, other).statistic, abs=1e-12)
    assert ranks([1.0, math.nan, 0.0]) == [1.0, 0.0, 0.5]
    assert math.isnan(spearman([1.0, 1.0], [1.0, 2.0]))
    assert mean_rank({"one": one, "same": one}) == ranks(one)
