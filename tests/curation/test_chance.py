"""The law of chance pairs: beside loops, on sets where all is known, and its threshold."""

import pytest
import torch

from counterpoint.curation.chance import WINDOW, chance_law
from counterpoint.curation.locality import local_scales, scaled_distances
from counterpoint.curation.neighbourhoods import rooms
from counterpoint.curation.threshold import fitted_threshold, precision_curve
from reference import curation as slow


def uniform_lists(count, dimension, seed=0, near=16):
    """Scaled distances of images whose neighbours are uniform in a ball."""
    generator = torch.Generator().manual_seed(seed)
    return torch.rand(count, near, generator=generator, dtype=torch.float64) ** (1 / dimension)


def test_the_law_is_that_of_loops_and_its_parameters_are_the_best():
    near = torch.cat([uniform_lists(150, 8), uniform_lists(150, 20, seed=1)])
    law = chance_law(near, aside=0.0)
    images = near.sort(dim=1).values.tolist()
    for radius in (0.4, 0.7, 0.9):
        expected = slow.chance_pairs(images, radius, law.shape, law.rate, law.steep)
        assert float(law.pairs(radius).sum()) == pytest.approx(expected, rel=1e-9)
    spreads, terms = [slow.spread(one) for one in images], [14] * len(images)
    best = slow.gamma_loss(law.shape, law.rate, spreads, terms)
    steep = slow.steep_loss(law.steep, images, law.shape, law.rate, WINDOW)
    for up in (0.95, 1.05):
        assert slow.gamma_loss(law.shape * up, law.rate, spreads, terms) > best
        assert slow.gamma_loss(law.shape, law.rate * up, spreads, terms) > best
        assert slow.steep_loss(law.steep * up, images, law.shape, law.rate, WINDOW) > steep


def test_the_dimension_is_found_though_it_differs_between_images():
    near = torch.cat([uniform_lists(2_000, d, seed=d) for d in (6, 12)])
    law = chance_law(near, aside=0.0)
    assert 8 < law.dimension < 10
    assert 0.9 < law.steep < 1.1


def test_expected_pairs_are_those_that_there_are():
    near = uniform_lists(6_000, 10, seed=3)
    law = chance_law(near, aside=0.0)
    for radius in (0.55, 0.65, 0.75):
        real = int((near <= radius).sum()) / 2
        assert float(law.pairs(radius).sum()) == pytest.approx(real, rel=0.25)


def test_a_copy_of_every_image_does_not_change_the_law():
    near = uniform_lists(3_000, 10, seed=4)
    plain = chance_law(near, aside=0.0)
    copied = near.clone()
    copied[:, 0] = 0.1 + 0.2 * uniform_lists(3_000, 1, seed=5)[:, 0]
    with_copies = chance_law(copied, aside=0.35)
    for radius in (0.5, 0.7):
        expected = float(plain.pairs(radius).sum())
        assert float(with_copies.pairs(radius).sum()) == pytest.approx(expected, rel=0.3)


def test_images_in_a_burst_are_left_out_of_the_law():
    near = uniform_lists(300, 10)
    near[:20] = 0.01
    assert len(chance_law(near, aside=0.3).anchor) == 280
    with pytest.raises(ValueError, match="needs more images that differ"):
        chance_law(near[:20], aside=0.3)


def test_equal_vectors_are_no_part_of_the_law():
    near = uniform_lists(300, 10)
    plain = chance_law(near[20:], aside=0.0)
    near[:20] = 0.0
    law = chance_law(near, aside=0.0)
    assert (law.shape, law.rate, law.steep) == (plain.shape, plain.rate, plain.steep)
    with pytest.raises(ValueError, match="needs more images that differ"):
        chance_law(near[:20], aside=0.0)


def planted(count, copies, seed, width=24):
    """Vectors on a curved sheet of 8 dimensions, and copies of some at many distances."""
    generator = torch.Generator().manual_seed(seed)
    low = torch.randn(count, 8, generator=generator)
    mix = torch.randn(8, width, generator=generator)
    vectors = torch.tanh(low @ mix / 3)
    noise = torch.randn(copies, width, generator=generator)
    size = 0.02 + 0.25 * torch.rand(copies, 1, generator=generator)
    return torch.cat([vectors, vectors[:copies] + size * noise])


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("target", [0.9, 0.95])
def test_the_precision_of_planted_copies_lies_in_the_interval(seed, target):
    count, copies = 1_500, 300
    vectors = planted(count, copies, seed)
    near = rooms(vectors).nearest(vectors, torch.arange(len(vectors)))
    scales = local_scales(near.cosine)
    lists = scaled_distances(near.cosine, near.index, scales, scales).double()
    rows = torch.arange(len(vectors))[:, None].expand_as(near.index)
    ends = torch.stack([rows, near.index], dim=-1).sort(dim=-1).values.view(-1, 2)
    pairs, back = ends.unique(dim=0, return_inverse=True)
    distances = lists.new_zeros(len(pairs)).scatter_(0, back, lists.flatten())
    law = chance_law(lists, aside=0.3)
    curve = precision_curve(distances, law, images=len(vectors))
    found = fitted_threshold(curve, law, precision=target)
    hit = pairs[distances <= found.radius]
    right = int((hit[:, 1] - hit[:, 0] == count).sum())
    assert len(hit) == found.found
    assert right > 100
    assert found.precision >= target
    assert found.low <= right / len(hit) <= found.high


def test_without_copies_nothing_is_called_a_duplicate():
    near = uniform_lists(3_000, 12, seed=8)
    law = chance_law(near, aside=0.3)
    curve = precision_curve(near[:1_500].flatten(), law, images=3_000)
    found = fitted_threshold(curve, law)
    assert found.found <= 3
    assert float(curve.at(torch.tensor([0.99], dtype=torch.float64))[0]) < 0.3


def test_copies_of_copies_raise_the_upper_end_only():
    near = uniform_lists(3_000, 20, seed=9)
    near[:120, 0], near[:120, 1], near[:120, 2] = 0.4, 0.45, 0.5  # bursts of four, none set aside
    law = chance_law(near, aside=0.3)
    pairs = torch.cat([torch.full((1_500,), 0.2, dtype=torch.float64), near[:120, :3].flatten()])
    found = fitted_threshold(precision_curve(pairs, law, images=3_000), law)
    assert found.radius > 0.3
    wide = found.widened(chance_law(near, aside=found.radius), images=3_000)
    assert wide.high > found.high
    assert (wide.low, wide.radius, wide.precision) == (found.low, found.radius, found.precision)
