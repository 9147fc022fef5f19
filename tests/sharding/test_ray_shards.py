"""Shards written on a real Ray cluster of three nodes, of which one is killed."""

import shutil
import threading
import time

import pytest

from counterpoint.sharding import ShardingJob
from ray_nodes import kill_busy_node, three_nodes

pytest.importorskip("ray", reason="ray is not installed: pip install 'counterpoint[ray]'")
from counterpoint.sharding.ray_shards import write_on_ray

pytestmark = pytest.mark.filterwarnings("ignore")  # Ray's own, of its start and of nodes that die


@pytest.fixture
def cluster(monkeypatch):
    """A head without room for tasks, and three nodes of one slot each."""
    yield from three_nodes(monkeypatch)


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
        kill_busy_node(cluster.workers, "shard_task")
        killed.append(len(job.left()))

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    with job.alone():
        write_on_ray(job, job.left())
    killer.join(20)
    assert killed, "no node was killed"
    assert killed[0] > 3, "no shard was left to be written when the node died"
    job.finish()
    here = ShardingJob.begin(str(photos), tmp_path / "here", images=4)
    with here.alone():
        here.write(here.left(), workers=0)
        here.finish()
    assert contents(job.out) == contents(here.out)


def contents(folder):
    return {file.name: file.read_bytes() for file in folder.rglob("*") if file.is_file()}
