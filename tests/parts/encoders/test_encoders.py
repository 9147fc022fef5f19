"""Every encoder: number, order and shapes of its maps, and its key names."""

import copy

import pytest
import timm
import torch
import torchvision

from counterpoint.framework import PartError
from counterpoint.framework.momentum import compiled
from counterpoint.parts.encoders import (
    RESNETS,
    Headed,
    MomentumEncoder,
    NarrowResNet,
    PerView,
    QueryKeyEncoder,
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


SIMPLE = NarrowResNet(widths=(4, 6), blocks=(1, 1))
TWIN = MomentumEncoder(of=SIMPLE)


@pytest.mark.parametrize(
    ("outer", "right"),
    [
        (Headed(of=TWIN), r"write MomentumEncoder\(of=Headed\(of=\.\.\.\)\)"),
        (Headed(of=Headed(of=TWIN)), r"Headed"),
        (PerView(of=(SIMPLE, TWIN)), r"write MomentumEncoder\(of=PerView\(of=\.\.\.\)\)"),
        (MomentumEncoder(of=TWIN), "take the inner one away"),
        (QueryKeyEncoder(of=TWIN), "take the inner one away"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_twin_that_would_never_be_asked_is_refused(outer, right):
    with pytest.raises(PartError, match=rf"encoder: got a momentum twin inside .*{right}"):
        outer.build(((3, 8, 8), (3, 8, 8)))


def test_views_apart_have_statistics_of_their_own():
    """As the networks called once for each view; together they are another function."""
    views = (torch.randn(6, 3, 8, 8), 5 + 3 * torch.randn(6, 3, 8, 8))
    found = {}
    for apart in (True, False):
        torch.manual_seed(0)
        settings = MomentumEncoder(of=Headed(of=SIMPLE, norm=True, hidden=7), views_apart=apart)
        found[apart] = settings.build(((3, 8, 8),) * 2)
    assert list(found[True].state_dict()) == list(found[False].state_dict())
    alone = copy.deepcopy(found[False].online)
    expected = [alone((view,))[0] for view in views]
    for maps in (found[True](views), found[True].target(views)):
        for one, other in zip(maps, expected, strict=True):
            torch.testing.assert_close(one, other)
    apart, together = found[True].online.state_dict(), alone.state_dict()
    assert all(torch.equal(apart[key], together[key]) for key in apart)  # running statistics too
    joined = found[False](views)[0][-1]
    assert not torch.allclose(joined, expected[0][-1], atol=1e-2)
    assert not any(m.requires_grad for maps in found[True].target(views) for m in maps)


def test_a_head_as_wide_as_its_encoder():
    head = Headed(of=SIMPLE, out=5, hidden="width").build(((3, 8, 8),)).head
    assert [tuple(p.shape) for p in head.parameters()] == [(6, 6), (6,), (5, 6), (5,)]


@pytest.mark.parametrize("zero", [True, False])
@pytest.mark.parametrize(
    "kind", [ResNet, lambda name, zero_init: ThinResNet(name=name, width=4, zero_init=zero_init)]
)
@pytest.mark.parametrize(("name", "last"), [("resnet18", "bn2"), ("resnet50", "bn3")])
def test_blocks_start_as_their_shortcut_when_asked(kind, name, last, zero):
    net = kind(name, zero_init=zero).build(((3, 32, 32),)).backbone
    scales = {key: value for key, value in net.state_dict().items() if key.endswith("weight")}
    ends = [value for key, value in scales.items() if key.endswith(f"{last}.weight")]
    assert len(ends) == {"resnet18": 8, "resnet50": 16}[name]
    assert all(bool((value == (0 if zero else 1)).all()) for value in ends)
    assert bool((scales["bn1.weight"] == 1).all())


def test_cmcs_networks_of_half_width():
    """HobbitLong/CMC, models/resnet.py, width=0.5: stages of 32 planes behind a stem of 64."""
    half = ThinResNet(
        name="resnet50", width=32, stem_width=64, stem="imagenet", zero_init=False
    ).build(((1, 64, 64),))
    shapes = {key: tuple(value.shape) for key, value in half.backbone.state_dict().items()}
    assert shapes["conv1.weight"] == (64, 1, 7, 7)
    assert shapes["layer1.0.conv1.weight"] == (32, 64, 1, 1)
    assert shapes["layer4.2.conv3.weight"] == (1024, 256, 1, 1)
    (maps,) = half((torch.randn(2, 1, 64, 64),))
    assert [m.shape[1] for m in maps] == [128, 256, 512, 1024]


def test_both_networks_of_a_pair_are_compiled(monkeypatch):
    seen = []
    monkeypatch.setattr(torch.nn.Module, "compile", lambda module: seen.append(module))
    pair, alone = TWIN.build(((3, 8, 8),) * 2), SIMPLE.build(((3, 8, 8),))
    compiled(pair)
    compiled(alone)
    assert seen == [pair.online, pair.twin, alone]
