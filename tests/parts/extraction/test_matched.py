"""Places are matched by one map and compared by another; several extractions are added."""

import pytest
import torch

from counterpoint.evaluation import Representation
from counterpoint.framework import ALONE, Encoded, PartError, Samples
from counterpoint.methods import densecl_small
from counterpoint.parts.encoders import Headed, NarrowResNet
from counterpoint.parts.extraction import Bank, Keys, Matched, Pooled, Queue, Together
from counterpoint.parts.extraction.matched import best_places

SMALL = NarrowResNet(widths=(4, 6), blocks=(1, 1), stride=1)


def random_maps(seed, images=3, sides=((4, 4), (4, 4))):
    torch.manual_seed(seed)
    return tuple(
        torch.randn(images, width, *side) for width, side in zip((6, 5), sides, strict=True)
    )


def test_a_place_finds_its_best_match_in_a_loop():
    queries, keys = random_maps(0)[0], random_maps(1)[0]
    found = best_places(queries, keys)
    for image in range(len(queries)):
        here, there = queries[image].flatten(1).T, keys[image].flatten(1).T
        for place, vector in enumerate(here):
            near = [torch.cosine_similarity(vector, other, dim=0).item() for other in there]
            assert found[image, place] == near.index(max(near))


def test_views_of_other_sizes_are_matched_too():
    queries, keys = random_maps(0), random_maps(1, sides=((3, 2), (3, 2)))
    (found,) = Matched()(Encoded((queries,), (keys,)), Samples(torch.arange(3)), ALONE)
    assert found.anchors.shape == found.candidates.shape == (3 * 16, 5)
    assert len(found.anchor_identity.unique()) == 3 * 16
    assert found.kept.vectors.shape == (3, 5)


def test_half_precision_matches_in_fp32():
    queries, keys = random_maps(0)[0], random_maps(1)[0]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        found = best_places(queries, keys)
    assert torch.equal(found, best_places(queries, keys))


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"map": -3}, "needs two of the encoder's 2 maps"),
        ({"map": -1, "by": -2}, "as many places in the map that is compared"),
    ],
)
def test_maps_that_do_not_fit_are_refused(settings, said):
    with pytest.raises(PartError, match=said):
        Matched(**settings).build((((6, 4, 4), (5, 1, 1)),))


def test_a_queue_keeps_the_mean_of_the_places():
    queue = Queue(of=Matched(), size=8).build((((6, 4, 4), (5, 4, 4)),))
    keys = random_maps(1)
    encoded, samples = Encoded((random_maps(0),), (keys,)), Samples(torch.arange(3))
    queue(encoded, samples, ALONE)
    (found,) = queue(encoded, samples, ALONE)
    torch.testing.assert_close(found.remembered.vectors, keys[-1].mean(dim=(2, 3)))


def test_shares_multiply_the_weights():
    maps = random_maps(0)
    both = Together(of=(Pooled(), Matched()), shares=(0.25, 0.75))
    built = both.build((((6, 4, 4), (5, 4, 4)),) * 2)
    found = built(Encoded((maps, maps), (maps, maps)), Samples(torch.arange(3)), ALONE)
    assert [one.weight for one in found] == [0.25, 0.75]


def test_what_is_inside_is_asked():
    bank = Together(of=(Keys(), Bank(samples=4)), shares=(1.0, 1.0)).for_samples(9)
    assert bank.of[1].samples == 9
    assert bank.held_out == bank.of[1].held_out
    assert Together(of=(Keys(),), shares=(1.0,)).held_out
    with pytest.raises(PartError, match="a share for each"):
        Together(of=(Keys(),), shares=())


def test_a_dense_head_is_a_convolution():
    torch.manual_seed(0)
    built = Headed(of=SMALL, out=5, hidden=7, places=True).build(((3, 8, 8),))
    (maps,) = built((torch.randn(2, 3, 8, 8),))
    first, _, second = built.head
    convolved = torch.nn.functional.conv2d(maps[-2], first.weight[:, :, None, None], first.bias)
    convolved = convolved.relu()
    wanted = torch.nn.functional.conv2d(convolved, second.weight[:, :, None, None], second.bias)
    torch.testing.assert_close(maps[-1], wanted)


def test_a_second_head_reads_the_encoder_and_the_encoder_is_evaluated():
    torch.manual_seed(0)
    dense = Headed(of=SMALL, out=5, places=True)
    built = Headed(of=dense, out=4, map=-2).build(((3, 8, 8),))
    (maps,) = built((torch.randn(2, 3, 8, 8),))
    assert [one.shape[1] for one in maps] == [4, 6, 5, 4]
    torch.testing.assert_close(maps[-1][:, :, 0, 0], built.head(maps[-3].mean(dim=(2, 3))))
    assert built.probe == -3
    assert built.without_head is built.encoder.encoder
    with pytest.raises(PartError, match="a head on map -3, needs one of the 2 maps"):
        Headed(of=SMALL, out=4, map=-3).build(((3, 8, 8),))


def test_densecl_is_evaluated_by_its_encoder():
    model = densecl_small(SMALL).build(image=(3, 32, 32))
    assert Representation(model)(torch.zeros(2, 3, 32, 32, dtype=torch.uint8)).shape == (2, 6)
