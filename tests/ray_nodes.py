"""Nodes of a Ray cluster on this machine, which tests kill as a machine that loses its power."""

import contextlib
import os
import signal
import time
from pathlib import Path


def three_nodes(monkeypatch):
    """Give a cluster: a head without room for tasks, and three nodes of one slot each."""
    import ray
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.workers = [made.add_node(num_cpus=1, object_store_memory=80 << 20) for _ in range(3)]
    ray.init(address=made.address, log_to_driver=False)
    yield made
    ray.shutdown()
    made.shutdown()


def kill_busy_node(nodes, task):
    """Kill the first node that runs a task, which Ray names its process after; return the node."""
    while not (busy := [node for node in nodes if _runs(node, task)]):
        time.sleep(0.005)
    raylet = _raylet(busy[0])
    for pid in (raylet, *_children(raylet)):
        os.kill(pid, signal.SIGKILL)
    return busy[0]


def _raylet(node):
    return next(info.process for info in node.all_processes["raylet"]).pid


def _children(pid):
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for listed in lists for child in listed.read_text().split()]


def _runs(node, task):
    for child in _children(_raylet(node)):
        with contextlib.suppress(OSError):
            if task.encode() in Path(f"/proc/{child}/cmdline").read_bytes():
                return True
    return False
