"""The names that are listed without torch are those that there are."""

import subprocess
import sys

import pytest
import torch

from counterpoint import catalogue, methods
from counterpoint.parts.encoders import encoder_named
from counterpoint.parts.encoders.narrow import NARROW
from counterpoint.parts.encoders.resnet import RESNETS


def test_methods_are_all_listed_and_the_seven_come_first():
    assert list(catalogue.METHODS) == methods.SEVEN
    assert sorted({**catalogue.METHODS, **catalogue.VARIANTS}) == sorted(methods.METHODS)


def test_encoders_are_all_listed():
    assert list(catalogue.ENCODERS) == [*RESNETS, *NARROW]


@pytest.mark.parametrize("name", catalogue.ENCODERS)
def test_the_size_of_an_encoder(name):
    with torch.device("meta"):
        built = encoder_named(name, size=224).build(((3, 224, 224),))
    millions = sum(p.numel() for p in built.parameters() if p.requires_grad) / 1e6
    said = f"{millions:.1f} M" if millions < 10 else f"{millions:.0f} M"
    assert said in catalogue.ENCODERS[name]


def test_listing_the_methods_needs_no_torch():
    code = (
        "import sys\nfrom counterpoint.cli import main\n"
        "main(['methods'])\nprint('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
    assert max(map(len, done.stdout.splitlines())) <= 80
