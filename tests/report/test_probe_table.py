"""The table of an evaluation, as a log file of 80 columns shows it."""

import io
import re
from dataclasses import replace

from rich.console import Console

from counterpoint.evaluation.result import ProbeResult, Result
from counterpoint.report.probe_table import probe_table

ONE = ProbeResult(
    name="mlp",
    fraction=1.0,
    settings={"lr": 0.003, "epoch": 100},
    validation=0.359,
    test=0.3375,
    spread=None,
    low=0.317,
    high=0.358,
    seeds=(0,),
    calibration_error=0.077,
    per_class=(0.1,) * 10,
    confusion=((1,) * 10,) * 10,
    seconds=226.0,
)
RESULT = Result(
    probes=(ONE, replace(ONE, name="knn", settings={"k": 20})),
    width=192,
    map=None,
    classes=None,
    robustness={"clean": 0.34, "mean": 0.21},
    seed=0,
    left_out={"train": 0, "validation": 0, "test": 0},
    seconds=276.0,
    peak_mb=800.0,
)


def printed(result):
    console = Console(file=io.StringIO(), width=80)
    console.print(probe_table(result, title="runs/first"))
    return console.file.getvalue()


def test_one_seed_takes_two_lines_a_probe_and_has_no_spread():
    said = printed(RESULT)
    assert "…" not in said
    assert max(map(len, said.splitlines())) <= 80
    assert "spread" not in said
    rows = [line for line in said.splitlines() if line.startswith("│")]
    assert len(rows) == 4
    assert "0.3375" in rows[0]
    assert "lr 0.003, epoch 100" in said
    assert "276 s" in said
    assert "under corruptions 0.2100" in said


def test_a_small_share_of_the_labels_is_not_none_of_them():
    """0.4 % of them were 0 %, and 12.5 % were 12 %."""
    some = [replace(ONE, fraction=share) for share in (0.004, 0.125, 1.0)]
    said = printed(replace(RESULT, probes=tuple(some)))
    assert re.findall(r"(\S+)%", said) == ["0.4", "12.5", "100"]


def test_several_seeds_have_their_spread():
    several = replace(ONE, spread=0.0123, seeds=(0, 1, 2))
    said = printed(replace(RESULT, probes=(several, ONE)))
    assert "0.0123" in said
    assert "…" not in said
    assert max(map(len, said.splitlines())) <= 80


def test_a_result_in_a_notebook_is_a_line_a_probe():
    said = repr(RESULT)
    assert said.splitlines()[0] == (
        "mlp with 1 of the labels: test 0.3375 (0.317 to 0.358), validation 0.3590"
    )
    assert len(said.splitlines()) == 2
    assert "confusion" not in repr(ONE)
