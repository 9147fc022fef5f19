"""A head behind an encoder: at every place, for no image, and behind an encoder that is probed."""

import pytest
import torch
from torch import nn

from counterpoint.parts.batch_norm import regroup
from counterpoint.parts.encoders import Headed, NarrowResNet, QueryKeyEncoder
from counterpoint.parts.encoders.headed import HeadedEncoder

SIMPLE = NarrowResNet(widths=(4, 6), blocks=(1, 1))
VIEWS = ((3, 16, 16), (3, 16, 16))


@pytest.mark.parametrize("places", [True, False])
def test_groups_of_batch_norm_are_of_images_at_every_place(places):
    """Two groups are two devices with half of the images each."""
    head = Headed(of=SIMPLE, out=5, hidden=7, norm=True, places=places)
    networks = QueryKeyEncoder(of=head, groups=2).build(VIEWS).double()
    together = networks.online
    views = tuple(torch.randn(4, 3, 16, 16, dtype=torch.float64) for _ in VIEWS)
    regroup(together, torch.tensor([0, 0, 1, 1]), 2)
    found = [maps[-1] for maps in together(views)]
    assert found[0].shape[2:] == ((4, 4) if places else (1, 1))
    regroup(together, None, 1)
    halves = [together(tuple(view[some] for view in views)) for some in (slice(2), slice(2, 4))]
    for number, ours in enumerate(found):
        alone = torch.cat([half[number][-1] for half in halves])
        torch.testing.assert_close(ours, alone, rtol=0, atol=1e-12)


@pytest.mark.parametrize("places", [True, False])
def test_no_images_give_no_vectors(places):
    built = Headed(of=SIMPLE, out=5, hidden=7, places=places).build(VIEWS[:1]).eval()
    (maps,) = built((torch.zeros(0, 3, 16, 16),))
    assert maps[-1].shape == (0, 5, *((4, 4) if places else (1, 1)))


class Probed(nn.Module):
    """Three maps, of which one is evaluated."""

    def __init__(self, probe):
        super().__init__()
        self.probe = probe

    def forward(self, views):
        return tuple((view, 2 * view, 3 * view) for view in views)


@pytest.mark.parametrize("probe", [0, 1, 2, -1, -2, -3])
def test_the_map_that_is_evaluated_is_the_inner_encoders(probe):
    """Counted from the front or from the back: the head adds a map behind them."""
    inner, view = Probed(probe), torch.ones(2, 3, 1, 1)
    outer = HeadedEncoder(inner, nn.Linear(3, 5))
    (maps,), (headed,) = inner((view,)), outer((view,))
    assert torch.equal(headed[outer.probe], maps[probe])
