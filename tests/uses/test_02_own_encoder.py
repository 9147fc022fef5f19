"""Use 2: any nn.Module as an encoder."""

import sys

import pytest
import torch
from torch import nn
from torchvision.models import resnet18

import forked
from counterpoint import (
    PartError,
    Run,
    as_encoder,
    byol,
    pretrain,
    read_method,
    simclr,
    simclr_small,
    training_of,
)


class Net(nn.Module):
    """A network as people write them: vectors out."""

    def __init__(self, width=8):
        super().__init__()
        self.conv = nn.Conv2d(3, width, 3, stride=2)
        self.norm = nn.BatchNorm2d(width)

    def forward(self, x):
        return self.norm(self.conv(x)).relu().mean(dim=(2, 3))


def trained(encoder, cifar, out):
    settings = {"steps": 2, "health": False, "accelerator": "cpu"}
    return pretrain(
        simclr_small(encoder),
        cifar.head(64),
        out=out,
        training=training_of("simclr-small", batch=16),
        **settings,
    )


@pytest.mark.parametrize(
    "network", [Net, Net(), lambda: Net(16)], ids=["class", "module", "lambda"]
)
def test_it_is_trained_saved_and_opened_again(network, cifar, tmp_path):
    run = trained(as_encoder(network), cifar, tmp_path / "run")
    vectors = run.embed(cifar.test.images[:5])
    again = Run.open(tmp_path / "run", encoder=network)
    assert torch.equal(again.embed(cifar.test.images[:5]), vectors)
    assert again.method.fingerprint == run.method.fingerprint
    with pytest.raises(PartError, match=r"from Python: Run.open\(folder, encoder=Net\)"):
        Run.open(tmp_path / "run")
    with pytest.raises(PartError, match="the network that was trained: Net"):
        Run.open(tmp_path / "run", encoder=lambda: Net(3))


def test_a_module_starts_from_its_weights_and_is_not_changed():
    net = Net().eval()
    before = {name: value.clone() for name, value in net.state_dict().items()}
    model = simclr(as_encoder(net)).build(image=(3, 32, 32))
    for name, value in model.encoder.backbone.state_dict().items():
        assert torch.equal(value, before[name])
    assert model.encoder.backbone.training
    model.encoder.backbone.conv.weight.data.zero_()
    assert torch.equal(net.conv.weight, before["conv.weight"])


def test_other_weights_are_another_method_and_the_same_class_is_the_same():
    assert simclr(as_encoder(Net)) == simclr(as_encoder(Net))
    assert simclr(as_encoder(Net())).fingerprint != simclr(as_encoder(Net())).fingerprint
    assert simclr(as_encoder(Net)).fingerprint != simclr(as_encoder(lambda: Net(9))).fingerprint


def test_inside_a_momentum_twin_and_from_another_library():
    small = byol(as_encoder(lambda: resnet18(num_classes=32)), size=32)
    model = small.build(image=(3, 32, 32))
    assert model.encoder.online.backbone.fc.out_features == 32
    read = read_method(small.to_json())
    assert read == small


def test_several_maps_tokens_and_other_outputs():
    conv = nn.Conv2d(3, 8, 3)
    two = as_encoder(conv, maps=lambda net, x: (net(x), net(x).mean(dim=(2, 3))))
    maps = two.build(((3, 8, 8),))((torch.zeros(2, 3, 8, 8),))[0]
    assert [tuple(m.shape) for m in maps] == [(2, 8, 6, 6), (2, 8, 1, 1)]
    with pytest.raises(PartError, match=r"gives \(8, 3, 1024\).*network\(views\).mean\(dim=1\)"):
        simclr(as_encoder(nn.Flatten(2))).build(image=(3, 32, 32))
    with pytest.raises(PartError, match="gives a dict"):
        simclr(as_encoder(conv, maps=lambda net, x: {"x": x})).build(image=(3, 32, 32))


BARE = """
from torch import nn
from counterpoint import PartError, simclr
for bare in (nn.Flatten(), nn.Flatten, 3):
    try:
        simclr(bare)
    except PartError as error:
        print(error)
"""


def test_a_bare_module_is_told_what_to_write():
    # In a process of its own, as users have it: here in tests the types are checked first.
    done = forked.run([sys.executable, "-c", BARE], capture_output=True, text=True, check=True)
    module, kind, number = done.stdout.splitlines()
    assert module.endswith("any nn.Module becomes one by as_encoder(Flatten(...))")
    assert kind.endswith("any nn.Module becomes one by as_encoder(Flatten)")
    assert number.endswith("needs settings whose `part` is 'encoder'")


def test_as_encoder_takes_modules_and_what_makes_them():
    with pytest.raises(PartError, match="a function that gives a int"):
        as_encoder(lambda: 3)
