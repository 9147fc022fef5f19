"""Shards written on a real Ray cluster of three nodes, of which one is killed."""

import contextlib
import os
import shutil
import signal
import threading
import time
from pathlib import Path

import pytest

from counterpoint.sharding import ShardingJob

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'counterpoint[ray]'")
from ray.cluster_utils import Cluster  # noqa: E402

from counterpoint.sharding.ray_shards import write_on_ray  # noqa: E402

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of its start and of nodes that die


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


@pytest.mark.full
def test_shards_on_three_nodes_of_which_one_is_killed_are_those_of_one_machine(
    data, tmp_path, cluster
):
    photos = tmp_path / "photos"
    for name in ("butterfly", "dolphin", "watch"):
        shutil.copytree(data / "caltech20" / name, photos / name)
    job = ShardingJob.begin(str(photos), tmp_path / "ray", images=4)
    killed = []

    def kill():
        """Kill a node while it writes a shard, as a machine that loses its power."""
        while len([*job.out.glob("*.idx")]) < 3:
            time.sleep(0.02)
        while not (busy := [node for node in cluster.workers if works(node)]):
            time.sleep(0.005)
        raylet = raylet_of(busy[0])
        for pid in (raylet, *children(raylet)):
            os.kill(pid, signal.SIGKILL)
        killed.append(len(job.left()))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    write_on_ray(job, job.left())
    killer.join(20)
    assert killed, "no node was killed"
    assert killed[0] > 3, "no shard was left to be written when the node died"
    job.finish()
    here = ShardingJob.begin(str(photos), tmp_path / "here", images=4)
    here.write(here.left(), workers=0)
    here.finish()
    assert contents(job.out) == contents(here.out)


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def raylet_of(node):
    return next(info.process for info in node.all_processes["raylet"]).pid


def children(pid):
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for listed in lists for child in listed.read_text().split()]


def works(node):
    """Whether one of a node's processes, which Ray names after their task, writes a shard."""
    for child in children(raylet_of(node)):
        with contextlib.suppress(OSError):
            if b"shard_task" in Path(f"/proc/{child}/cmdline").read_bytes():
                return True
    return False
