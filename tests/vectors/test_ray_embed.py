"""Parts made on a real Ray cluster of three nodes, of which one is killed."""

import contextlib
import os
import signal
import threading
import time
from pathlib import Path

import pytest

from counterpoint import Run
from counterpoint.vectors.embed_parts import EmbedJob, embed_data

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'counterpoint[ray]'")
from ray.cluster_utils import Cluster  # noqa: E402

from counterpoint.vectors.ray_parts import embed_on_ray  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of its start and of nodes that die
RUN = Path(__file__).parent.parent / "golden" / "runs" / "simclr-files"


@pytest.fixture
def cluster(monkeypatch):
    """A head without room for tasks, and three nodes of one slot each."""
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.workers = [made.add_node(num_cpus=1, object_store_memory=80 << 20) for _ in range(3)]
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


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
        while not (busy := [node for node in cluster.workers if works(node)]):
            time.sleep(0.02)
        raylet = raylet_of(busy[0])
        for pid in (raylet, *children(raylet)):
            os.kill(pid, signal.SIGKILL)
        killed.append(len(job.left()))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
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


def raylet_of(node):
    return next(info.process for info in node.all_processes["raylet"]).pid


def children(pid):
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for listed in lists for child in listed.read_text().split()]


def works(node):
    """Whether one of a node's processes, which Ray names after their task, makes a part."""
    for child in children(raylet_of(node)):
        with contextlib.suppress(OSError):
            if b"PartWorker" in Path(f"/proc/{child}/cmdline").read_bytes():
                return True
    return False
