"""The command: a page of 80 columns, its figures as JSON, and what it refuses."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

import forked
from counterpoint import catalogue
from counterpoint.cli import main
from counterpoint.plan.gpus import GPUS
from counterpoint.plan.networks import NETWORKS

ASKED = ["plan", "--images", "50000", "--method", "simclr-small", "--size", "32", "--gpus", "4"]


def test_names_are_those_of_the_catalogue():
    assert tuple(GPUS) == catalogue.GPUS
    assert tuple(NETWORKS) == catalogue.NETWORKS
    assert all(figures.source for figures in [*GPUS.values(), *NETWORKS.values()])


def test_the_page_fits_80_columns_and_its_figures_are_written(tmp_path, capsys):
    main([*ASKED, "--price", "2", "--compare", "ddp,fsdp2", "--json", str(tmp_path / "plan.json")])
    said = capsys.readouterr().out.splitlines()
    assert max(len(line) for line in said if not line.startswith(("next:", "figures:"))) <= 80
    assert said[-1].startswith("next: counterpoint pretrain DATA --method simclr-small")
    found = json.loads((tmp_path / "plan.json").read_text())
    parts = sum(found["step"].values()) + sum(found["network waits"].values())
    assert found["step seconds"] == pytest.approx(parts)
    assert found["images per second"] == pytest.approx(256 / found["step seconds"])
    assert found["fits"] is True
    weights = found["memory"]["weights"] / 4
    assert found["bytes received by a rank"]["gradient"] == 2 * 3 / 4 * 4 * weights


def test_the_plan_in_the_document_is_what_the_command_says():
    text = (Path(__file__).parents[2] / "docs" / "plan.md").read_text()
    (block,) = re.findall(r"```console\n\$ (counterpoint plan --images .*)\n([^`]+)```", text)
    command, shown = block
    words = [Path(sys.executable).parent / "counterpoint", *shlex.split(command)[1:]]
    said = forked.run(words, capture_output=True, text=True, check=True).stdout.splitlines()
    assert shown.rstrip().splitlines() == said


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["plan"], "needs DATA or --images N"),
        ([*ASKED, "--gpu", "h10"], "did you mean h100"),
        ([*ASKED, "--network", "token-ring"], "there are ndr"),
        ([*ASKED, "--compare", "ddp,zero"], "compare: got 'zero'"),
        ([*ASKED, "--gpus", "1000"], "needs one a GPU"),
    ],
)
def test_a_mistake_is_one_line(words, said, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code != 0
    lines = (capsys.readouterr().err or str(stop.value.code)).strip().splitlines()
    assert said in lines[-1]


def test_a_run_of_years_is_told_how_many_epochs_fit_a_month(capsys):
    many = ["plan", "--images", "1000000000", *ASKED[3:], "--epochs"]
    main([*many, "2"])
    assert "epochs take" not in _flat(capsys)
    main([*many, "1000"])
    assert re.search(r"1,000 epochs take \d+ days; --epochs \d+ takes 30", _flat(capsys))


def _flat(capsys):
    return " ".join(capsys.readouterr().out.split())


def test_what_does_not_fit_says_what_to_do(capsys):
    large = ["--size", "224", "--gpus", "1", "--batch-size", "40000"]
    main(["plan", "--images", "50000", "--method", "byol-small", *large])
    assert "It does not fit" in capsys.readouterr().out
