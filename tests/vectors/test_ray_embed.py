"""Parts made on a real Ray cluster of three nodes, of which one is killed."""

import threading
import time
from pathlib import Path

import pytest

from counterpoint import Run
from counterpoint.vectors.embed_parts import EmbedJob, embed_data
from ray_nodes import kill_busy_node, three_nodes

pytest.importorskip("ray", reason="ray is not installed: pip install 'counterpoint[ray]'")
from counterpoint.vectors.ray_parts import embed_on_ray

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of its start and of nodes that die
RUN = Path(__file__).parent.parent / "golden" / "runs" / "simclr-files"


@pytest.fixture
def cluster(monkeypatch):
    """A head without room for tasks, and three nodes of one slot each."""
    yield from three_nodes(monkeypatch)


def test_parts_on_three_nodes_of_which_one_is_killed_are_those_of_one_machine(
    data, tmp_path, cluster, capfd
):
    settings = {"limit": 150, "part_size": 10}
    job = EmbedJob.begin(Run.open(RUN), data / "caltech20", tmp_path / "ray", **settings)
    assert job.record.parts == 45
    killed = []

    def kill():
        """Kill a node while it makes a part, as a machine that loses its power."""
        while len([*job.folder.glob("part-*.parquet")]) < 3:
            time.sleep(0.02)
        kill_busy_node(cluster.workers, "PartWorker")
        killed.append(len(job.left()))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with job.alone(0):
        embed_on_ray(job, job.left())
    killer.join()
    assert killed[0] > 3, "no part was left to be made when the node died"
    assert job.left() == []
    here = embed_data(Run.open(RUN), data / "caltech20", tmp_path / "here", copies=0, **settings)
    names = [f"part-{part:05d}.parquet" for part in range(45)]
    for name in names:
        assert (job.folder / name).read_bytes() == (here.folder / name).read_bytes(), name
    times = [(job.folder / name).stat().st_mtime_ns for name in names]
    embed_on_ray(job, job.left())
    assert [(job.folder / name).stat().st_mtime_ns for name in names] == times
