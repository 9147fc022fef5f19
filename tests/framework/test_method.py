"""Methods as values."""

from dataclasses import is_dataclass, replace

import pytest

from counterpoint.framework import Method, PartError, codec
from counterpoint.methods import METHODS, read_method, simclr
from counterpoint.parts import PARTS, encoders, extraction, losses, similarity, views
from counterpoint.parts.encoders import RESNETS, ResNet, Timm
from counterpoint.parts.extraction import Pooled
from counterpoint.parts.losses import NCE, Triplet
from counterpoint.parts.similarity import Cosine, ProjectedCosine
from toy import TinyEncoder, tiny_method


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("size", [32, 64, 224])
def test_json_round_trip(name, size):
    method = METHODS[name](size=size)
    again = read_method(method.to_json())
    assert again == method
    assert hash(again) == hash(method)
    assert again.fingerprint == method.fingerprint


def test_the_fingerprint_of_simclr_is_stable():
    """It may only change together with a line in CHANGELOG.md under Changed results."""
    assert simclr().fingerprint == "290244bda14b9795"


def test_any_setting_changes_the_fingerprint():
    method = simclr()
    changed = [
        method.swap(views=replace(method.views, views=3)),
        method.swap(encoder=ResNet("resnet34")),
        method.swap(extraction=Pooled(pool="max")),
        method.swap(similarity=ProjectedCosine(tau=0.4)),
        method.swap(loss=NCE(denominator="negatives")),
    ]
    assert len({method.fingerprint, *(other.fingerprint for other in changed)}) == 6


def test_an_integer_in_place_of_a_float_has_the_same_fingerprint():
    assert (
        simclr().swap(similarity=Cosine(tau=1)).fingerprint
        == simclr().swap(similarity=Cosine(tau=1.0)).fingerprint
    )


def test_swap_changes_one_part_and_leaves_the_method():
    method = simclr()
    other = method.swap(loss=Triplet())
    assert other.loss == Triplet()
    assert method.loss == NCE()
    assert other.swap(loss=NCE()) == method


def test_swap_knows_only_five_parts():
    with pytest.raises(PartError, match="optimiser: got an unknown name"):
        simclr().swap(optimiser=Triplet())


def test_printing_is_five_rows():
    rows = str(simclr()).splitlines()
    assert [row[:4] for row in rows] == ["(1) ", "(2) ", "(3) ", "(4) ", "(5) "]


def test_a_part_of_ones_own_needs_its_class():
    method = tiny_method()
    with pytest.raises(ValueError, match="unknown part 'TinyEncoder'"):
        read_method(method.to_json())
    assert read_method(method.to_json(), parts={"TinyEncoder": TinyEncoder}) == method


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('{"part": "os.system"}', "unknown part 'os.system'"),
        ('{"part": "NCE", "numerator": "each", "tau": 1}', "NCE has no setting 'tau'"),
        ('{"part": "NCE", "part": "NCE"}', "a key stands twice"),
        ("[]", "not of a method"),
        ('{"part": "NCE"}', "not of a method"),
        ('{"loss": 1}', "unknown part None"),
    ],
)
def test_foreign_json_is_refused(text, complaint):
    with pytest.raises((ValueError, TypeError), match=complaint):
        read_method(text)


def test_settings_hold_plain_values_only():
    with pytest.raises(TypeError, match="plain values"):
        codec.encode(object())


def test_every_settings_class_is_in_the_closed_table():
    """A part that was exported but forgotten in the table could not be read back from JSON."""
    homes = (views, encoders, extraction, losses, similarity)
    found = {
        name
        for home in homes
        for name, value in vars(home).items()
        if isinstance(value, type)
        and is_dataclass(value)
        and value.__module__.startswith(home.__name__)
    }
    assert found == PARTS.keys()
    assert Method.__name__ not in PARTS


def test_wrong_names_are_refused_with_near_ones():
    with pytest.raises(PartError, match="resnet18"):
        ResNet("resnet19")
    with pytest.raises(PartError, match="encoder: got 'vit_tiny_patch'"):
        Timm("vit_tiny_patch")
    assert len(RESNETS) == 9
