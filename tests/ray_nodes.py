"""Nodes of a Ray cluster on this machine, which tests kill as a machine that loses its power."""

import contextlib
import os
import signal
import time
from pathlib import Path

HERE = "127.0.0.1"  # nodes of this address listen to this machine alone
MEMORY = 80 << 20  # bytes of a node's object store, nearly the least that Ray takes


def three_nodes(monkeypatch):
    """Give a cluster that this process has joined: a head, and three nodes of one slot each."""
    import ray

    with cluster_of(3, monkeypatch, slots=1) as made:
        ray.init(address=made.address, log_to_driver=False)
        yield made
        ray.shutdown()


@contextlib.contextmanager
def cluster_of(count, monkeypatch, *, slots):
    """Start a cluster of a head without room for tasks and nodes, its `workers`."""
    from ray.cluster_utils import Cluster

    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    # Else a driver that is given 127.0.0.1 asks another address of the machine: what Ray does on
    # macOS and Windows. The variable is for other processes; here Ray may have read it already.
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setattr("ray._private.ray_constants.ENABLE_RAY_CLUSTER", False)
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": MEMORY}
    made = Cluster(initialize_head=True, head_node_args=head | {"node_ip_address": HERE})
    try:
        made.workers = [added_node(made, slots=slots) for _ in range(count)]
        yield made
    finally:
        made.shutdown()


def added_node(cluster, *, slots):
    """Start one more node."""
    return cluster.add_node(num_cpus=slots, object_store_memory=MEMORY, node_ip_address=HERE)


def kill_busy_node(nodes, task):
    """Kill the first node that runs a task, which Ray names its process after; return the node."""
    while not (busy := [node for node in nodes if _runs(node, task)]):
        time.sleep(0.005)
    kill_node(busy[0])
    return busy[0]


def kill_node(node):
    """Kill a node with all of its processes."""
    raylet = _raylet(node)
    for pid in (raylet, *_children(raylet)):
        with contextlib.suppress(ProcessLookupError):  # some end by themselves without a raylet
            os.kill(pid, signal.SIGKILL)


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
