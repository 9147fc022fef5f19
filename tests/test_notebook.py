"""In a notebook: a run on one device opens again, one on two is refused before it trains."""

import os
import sys

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: no notebook")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: no notebook")

TRAIN = """
import torch
from counterpoint import ArraySource, Training, pretrain
from counterpoint.run import Run
images = torch.randint(0, 256, (32, 3, 32, 32), generator=torch.Generator().manual_seed(0))
data = ArraySource("noise", images.to(torch.uint8))

def trained(devices):
    out = f"devices-{devices}"
    training = Training(batch=16)
    pretrain("simclr-small", data, out=out, steps=2, training=training, devices=devices,
             accelerator="cpu", health=False)
    return sorted(Run.open(out).encoder.state_dict())
"""


def run(cells, folder, monkeypatch):
    """Run a notebook; give what its cells printed."""
    return [str(output) for output in outputs(cells, folder, monkeypatch)]


def outputs(cells, folder, monkeypatch):
    """Run a notebook in a kernel of this interpreter; give the outputs of its cells."""
    kernels = folder / "kernels" / "here"
    kernels.mkdir(parents=True)
    start = f'["{sys.executable}", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
    (kernels / "kernel.json").write_text(f'{{"argv": {start}, "display_name": "here"}}')
    monkeypatch.setenv("JUPYTER_PATH", str(folder))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, sys.path)))
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    client = nbclient.NotebookClient(
        made,
        kernel_name="here",
        timeout=240,
        allow_errors=True,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return [cell.outputs for cell in made.cells]


@pytest.mark.filterwarnings("ignore")  # of the notebook's own machinery
def test_one_device_opens_and_two_are_refused_before_training(tmp_path, monkeypatch):
    cells = [TRAIN, "print(len(trained(1)), 'weights')", "trained(2)"]
    _, one, two = run(cells, tmp_path, monkeypatch)
    assert "weights" in one, one
    assert "devices: 2 processes cannot be started from a notebook" in two, two
    assert "counterpoint pretrain DATA --devices 2" in two, two
    assert not list((tmp_path / "devices-2").glob("**/*")), "something was trained"


SHOWN = """
from counterpoint import simclr
from dataclasses import replace
from pathlib import Path
from counterpoint.evaluation.result import ProbeResult, Result
from counterpoint.run import Run
method = simclr()
probe = ProbeResult(name="knn <b>", fraction=0.1, settings={}, validation=0.5, test=0.25,
    spread=None,
    low=0.2, high=0.3, seeds=(0,), calibration_error=0.1, per_class=(), confusion=(), seconds=1.0)
result = Result(probes=(probe,), width=8, map=None, classes=None, robustness=None, seed=0,
    left_out={}, seconds=1.0, peak_mb=1.0)
"""
RUN = "Run(Path('runs/<i>'), method, method.build(image=(3, 32, 32)), (3, 32, 32), None)"


@pytest.mark.filterwarnings("ignore")  # of the notebook's own machinery
def test_methods_runs_and_results_are_tables_and_their_text_is_plain(tmp_path, monkeypatch):
    _, *cells = outputs([SHOWN, "method", RUN, "result"], tmp_path, monkeypatch)
    for (shown,), first in zip(
        cells, ("(1) views", "run in runs/<i>", "knn <b> with"), strict=True
    ):
        page, text = shown["data"]["text/html"], shown["data"]["text/plain"]
        assert text.startswith(first)
        assert page.count("<table") == page.count("</table>") == 1
        assert "<b>" not in page
        assert "<i>" not in page
        assert not [x for x in ("http", "src=", "color:", "background", "<script") if x in page]
    assert "runs/&lt;i&gt;" in cells[1][0]["data"]["text/html"]
    assert "<td" in cells[2][0]["data"]["text/html"]
    assert "0.2500" in cells[2][0]["data"]["text/html"]
