"""The names that are listed without torch are those that there are."""

import re
import subprocess
import sys

import pytest
import timm
import torch

from counterpoint import catalogue, methods
from counterpoint.cli.methods import methods_command
from counterpoint.evaluation.protocol import PROBES
from counterpoint.export.routes import ROUTES
from counterpoint.parts.encoders import encoder_named
from counterpoint.parts.encoders.narrow import NARROW
from counterpoint.parts.encoders.resnet import RESNETS
from counterpoint.study.studies import STUDIES


def test_methods_are_all_listed_and_the_seven_come_first():
    assert list(catalogue.METHODS) == methods.ALL
    assert methods.ALL[:7] == methods.SEVEN
    assert sorted({**catalogue.METHODS, **catalogue.VARIANTS}) == sorted(methods.METHODS)


def test_no_method_is_listed_twice():
    listed = [name for names in catalogue.METHOD_GROUPS.values() for name in names]
    assert len(listed) == len(set(listed))


@pytest.mark.parametrize("name", methods.ALL)
def test_a_method_says_where_it_comes_from(name):
    """`counterpoint methods` has one line of 79 characters for it."""
    origin = methods.ORIGINS[name]
    assert origin.idea.endswith(".")
    assert ". " not in origin.idea.replace("et al. ", "")
    assert 2000 < origin.year < 2030
    assert re.fullmatch(r"(\d{4}\.\d{5})?", origin.arxiv)
    seen = [name]
    while (before := methods.ORIGINS[seen[-1]].after) in methods.ORIGINS:
        assert before not in seen, "a method cannot come after itself"
        seen.append(before)
    assert len(catalogue.METHODS[name]) <= 56


def test_methods_are_shown_in_groups_with_the_seven_first(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "79")
    methods_command()
    shown = capsys.readouterr().out
    places = [shown.index(name) for name in ("the seven of the paper", *methods.SEVEN)]
    assert places == sorted(places)
    lines = [line for line in shown.splitlines() if line.startswith("│") and "…" in line]
    assert lines == []
    assert all(title in shown for title in catalogue.METHOD_GROUPS)


def test_no_group_is_empty():
    assert all(catalogue.METHOD_GROUPS.values())


def test_encoders_are_all_listed():
    assert list(catalogue.ENCODERS) == [*RESNETS, *NARROW]


@pytest.mark.parametrize("name", catalogue.ENCODERS)
def test_the_size_of_an_encoder(name):
    with torch.device("meta"):
        built = encoder_named(name, size=224).build(((3, 224, 224),))
    millions = sum(p.numel() for p in built.parameters() if p.requires_grad) / 1e6
    said = f"{millions:.1f} M" if millions < 10 else f"{millions:.0f} M"
    assert said == catalogue.ENCODERS[name][0]


def test_timms_names_are_those_that_timm_lists():
    assert catalogue.timm_names() == sorted(timm.list_models())
    older = timm.models._registry._deprecated_models
    assert all(
        catalogue.is_timm_name(name) for name in (*older, "vit_tiny_patch16_224.augreg_in21k")
    )
    assert not catalogue.is_timm_name("vit_tinny_patch16_224")


def test_probes_and_studies_are_all_listed():
    assert catalogue.PROBES == PROBES
    assert tuple(STUDIES) == catalogue.STUDIES
    assert tuple(route.name for route in ROUTES) == catalogue.EXPORT_ROUTES


@pytest.mark.parametrize("command", [["methods"], ["encoders"], ["encoders", "vit_tiny"]])
def test_listing_names_needs_no_torch(command):
    code = (
        "import sys\nfrom counterpoint.cli import main\n"
        f"main({command!r})\nprint('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
