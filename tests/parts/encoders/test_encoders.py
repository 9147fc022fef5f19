"""Every encoder: number, order and shapes of its maps, and its key names."""

import pytest
import timm
import torch
import torchvision

from counterpoint.framework import PartError
from counterpoint.parts.encoders import (
    RESNETS,
    NarrowResNet,
    ResNet,
    ThinResNet,
    Timm,
    encoder_named,
)
from counterpoint.parts.encoders.thin import TYPES

LAST = {"resnet18": 512, "resnet34": 512}


@pytest.mark.parametrize("name", RESNETS)
@pytest.mark.parametrize(("stem", "side"), [("small", 32), ("imagenet", 8)])
def test_the_nine_resnets_of_table_1(name, stem, side):
    with torch.device("meta"):
        encoder = ResNet(name, stem=stem).build(((3, 32, 32), (3, 32, 32)))
        views = encoder((torch.empty(2, 3, 32, 32), torch.empty(2, 3, 32, 32)))
    assert len(views) == 2
    last = LAST.get(name, 2048)
    for maps in views:
        widths = [last // 8, last // 4, last // 2, last]
        assert [tuple(m.shape) for m in maps] == [
            (2, width, max(1, side >> k), max(1, side >> k)) for k, width in enumerate(widths)
        ]


def test_the_backbone_loads_strictly_into_torchvision():
    encoder = ResNet("resnet18", stem="imagenet").build(((3, 64, 64),))
    theirs = torchvision.models.resnet18()
    theirs.fc = torch.nn.Identity()
    theirs.load_state_dict(encoder.backbone.state_dict(), strict=True)
    image = torch.randn(1, 3, 64, 64)
    ((*_, last),) = encoder.eval()((image,))
    torch.testing.assert_close(last.mean(dim=(2, 3)), theirs.eval()(image))


@pytest.mark.parametrize(
    ("name", "maps"), [("resnet10t", 5), ("convnext_atto", 4), ("vit_tiny_patch16_224", 12)]
)
def test_timm_by_name(name, maps):
    encoder = Timm(name).build(((3, 64, 64),))
    (found,) = encoder((torch.randn(2, 3, 64, 64),))
    assert len(found) == maps
    assert all(m.ndim == 4 for m in found)
    assert found[0].shape[-1] >= found[-1].shape[-1]
    if "vit" not in name:
        theirs = timm.create_model(name, num_classes=0)
        theirs.load_state_dict(encoder.backbone.state_dict(), strict=True)


def test_any_number_of_channels():
    for encoder in (ResNet("resnet18"), ResNet("resnet18", stem="imagenet"), Timm("resnet10t")):
        with torch.device("meta"):
            (maps,) = encoder.build(((5, 32, 32),))((torch.empty(2, 5, 32, 32),))
            assert maps[-1].shape[0] == 2


def test_narrow_resnet_takes_its_widths():
    encoder = NarrowResNet(widths=(8, 12, 20), blocks=(1, 2, 1), stride=1).build(((3, 32, 32),))
    (maps,) = encoder((torch.randn(2, 3, 32, 32),))
    assert [tuple(m.shape[1:]) for m in maps] == [(8, 32, 32), (12, 16, 16), (20, 8, 8)]
    with pytest.raises(PartError, match="encoder: got 2 widths and 3 depths"):
        NarrowResNet(widths=(8, 8), blocks=(1, 1, 1))


@pytest.mark.parametrize("name", TYPES)
def test_a_thin_resnet_is_torchvisions_at_full_width(name):
    theirs = torchvision.models.get_model(name, weights=None)
    theirs.fc = torch.nn.Identity()
    encoder = ThinResNet(name=name, width=64, stem="imagenet").build(((3, 32, 32),))
    theirs.load_state_dict(encoder.backbone.state_dict(), strict=True)
    image = torch.randn(2, 3, 32, 32).double()
    ((*_, last),) = encoder.eval().double()((image,))
    torch.testing.assert_close(last.mean(dim=(2, 3)), theirs.eval().double()(image))


@pytest.mark.parametrize("name", TYPES)
def test_a_thin_resnet_keeps_blocks_and_ratios(name):
    full, thin = (ThinResNet(name=name, width=width).build(((3, 32, 32),)) for width in (64, 8))
    (maps,) = thin((torch.randn(2, 3, 32, 32),))
    last = LAST.get(name, 2048) // 8
    assert [m.shape[1] for m in maps] == [last // 8, last // 4, last // 2, last]
    assert [m.shape[-1] for m in maps] == [32, 16, 8, 4]
    assert [k for k, _ in full.named_modules()] == [k for k, _ in thin.named_modules()]
    grouped = {m.weight.shape[1] for m in thin.modules() if getattr(m, "groups", 1) > 1}
    assert grouped == ({4, 8, 16, 32} if "resnext" in name else set())
    with pytest.raises(PartError, match="got a width of 5, needs one of 4, 8"):
        ThinResNet(name=name, width=5)


def test_views_of_different_size_take_their_own_turn():
    encoder = NarrowResNet(widths=(8,), blocks=(1,)).build(((3, 32, 32), (3, 16, 16)))
    large, small = encoder((torch.randn(2, 3, 32, 32), torch.randn(2, 3, 16, 16)))
    assert large[-1].shape[-1] == 2 * small[-1].shape[-1]


def test_views_of_different_channels_are_refused():
    with pytest.raises(PartError, match=r"encoder: got views with \[1, 2\] channels"):
        ResNet().build(((1, 32, 32), (2, 32, 32)))


def test_names():
    assert encoder_named("timm/resnet10t", size=32) == Timm("resnet10t")
    assert isinstance(encoder_named("small", size=32), NarrowResNet)
    with pytest.raises(PartError, match="did you mean resnet50"):
        encoder_named("resnet51", size=32)
