"""In a notebook: a run on one device opens again, one on two is refused before it trains."""

import os
import sys

import pytest

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient", reason="nbclient is not installed: no notebook")
pytest.importorskip("ipykernel", reason="ipykernel is not installed: no notebook")

TRAIN = """
import torch
from counterpoint import Source, Training, pretrain
from counterpoint.run import Run
images = torch.randint(0, 256, (32, 3, 32, 32), generator=torch.Generator().manual_seed(0))
data = Source("noise", images.to(torch.uint8))

def trained(devices):
    out = f"devices-{devices}"
    training = Training(batch=16)
    pretrain("simclr-small", data, out=out, steps=2, training=training, devices=devices,
             accelerator="cpu", health=False)
    return sorted(Run.open(out).encoder.state_dict())
"""


def run(cells, folder, monkeypatch):
    """Run a notebook in a kernel of this interpreter; give what its cells printed."""
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
    return [str(cell.outputs) for cell in made.cells]


@pytest.mark.filterwarnings("ignore")  # of the notebook's own machinery
def test_one_device_opens_and_two_are_refused_before_training(tmp_path, monkeypatch):
    cells = [TRAIN, "print(len(trained(1)), 'weights')", "trained(2)"]
    _, one, two = run(cells, tmp_path, monkeypatch)
    assert "weights" in one, one
    assert "devices: 2 processes cannot be started from a notebook" in two, two
    assert "counterpoint pretrain DATA --devices 2" in two, two
    assert not list((tmp_path / "devices-2").glob("**/*")), "something was trained"
