"""The command: a page of 80 columns, its figures as JSON, and what it refuses."""

import json
import re
import shlex
import sys
from pathlib import Path

import pytest

import forked
from counterpoint import catalogue, simclr_small
from counterpoint.cli import main
from counterpoint.framework.settings import Training
from counterpoint.plan.alternative_plans import alternative_plans
from counterpoint.plan.forecast import Forecast
from counterpoint.plan.gpus import GPUS
from counterpoint.plan.networks import NETWORKS
from counterpoint.plan.workload import Workload

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


def test_what_is_accumulated_is_summed_once_by_ddp(tmp_path):
    """Lightning sums the gradient at the last part of a batch; what candidates need, at each."""
    found = []
    for many in ("1", "4"):
        words = ["--batch-size", "256", "--accumulate", many, "--json", str(tmp_path / "plan.json")]
        main([*ASKED, *words])
        found.append(json.loads((tmp_path / "plan.json").read_text()))
    once, four = (one["bytes received by a rank"] for one in found)
    assert four["gradient"] == once["gradient"]
    assert four["decisions"] == once["decisions"]
    assert four["batch statistics"] == 4 * once["batch statistics"]
    assert found[1]["network waits"]["decisions"] == found[0]["network waits"]["decisions"]


def test_the_next_command_is_what_was_planned(capsys):
    main([*ASKED, "--accumulate", "2", "--gpus", "12"])
    said = capsys.readouterr().out.splitlines()[-1]
    assert said.startswith("next: counterpoint launch slurm --nodes 2 --gpus-per-node 6 pretrain")
    assert "--size 32" in said
    assert "--accumulate 2" in said


@pytest.mark.parametrize(("gpus", "nodes", "each"), [(12, 2, 6), (16, 2, 8), (20, 4, 5)])
def test_the_page_and_the_next_command_have_the_same_nodes(gpus, nodes, each, capsys):
    main([*ASKED, "--gpus", str(gpus)])
    said = capsys.readouterr().out
    assert f"{gpus} x H100 SXM 80 GB in {nodes} nodes" in said
    assert f"--nodes {nodes} --gpus-per-node {each} " in said


def test_images_that_nobody_has_yet_are_trained_on_at_the_planned_side(capsys):
    main(["plan", "--images", "1000", "--method", "simclr-small", "--epochs", "1"])
    assert "--size 224" in capsys.readouterr().out.splitlines()[-1]


def test_a_gpu_beside_this_machine_makes_its_own_views():
    load = Workload(
        method=simclr_small(),
        image=(3, 32, 32),
        training=Training(batch=64),
        images=1000,
        steps=10,
        name="some",
    )
    here = Forecast(load, GPUS["b200"], 1, NETWORKS["ndr"], view_seconds=1.0)
    assert alternative_plans(here, "h100")["h100"].parts["views"].total < 1


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
        ([*ASKED, "--gpus", "17"], "take 16 or 18"),
        ([*ASKED, "--gpus", "18", "--compare", "9,36"], "take 8 or 10"),
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
