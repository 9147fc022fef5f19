"""A run on a real Ray cluster of three nodes, one of which is killed while it trains."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from launch.paced_run import BIN, LATE

ray = pytest.importorskip("ray", reason="ray is not installed: pip install 'counterpoint[ray]'")
from ray.cluster_utils import Cluster  # noqa: E402

pytestmark = [
    pytest.mark.full,
    pytest.mark.filterwarnings("ignore"),  # Ray's own, of its start and of nodes that die
]


@pytest.fixture
def cluster(run, monkeypatch):
    """A head without room for tasks, and three nodes of one slot each; the run takes two."""
    for name in ("PACE", "PYTHONPATH", "GLOO_SOCKET_IFNAME"):
        monkeypatch.setenv(name, run.environment[name])
    monkeypatch.setenv("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    head = {"num_cpus": 0, "include_dashboard": False, "object_store_memory": 80 << 20}
    made = Cluster(initialize_head=True, head_node_args=head)
    made.workers = [made.add_node(num_cpus=1, object_store_memory=80 << 20) for _ in range(3)]
    yield made
    made.shutdown()


@pytest.fixture
def launched(run, cluster):
    """The command, while it trains; it is ended with the test."""
    log = run.folder / "launch.log"
    started = []

    def launch():
        options = ["--nodes", "2", "--gpus-per-node", "0", "--address", cluster.address]
        with log.open("ab") as out:
            started.append(
                subprocess.Popen(
                    [BIN / "counterpoint", "launch", "ray", *options, *run.command("run")],
                    cwd=run.folder,
                    env=run.environment,
                    stdout=out,
                    stderr=out,
                )
            )
        return started[-1]

    launch.said = log.read_text
    yield launch
    for process in started:
        if process.poll() is None:
            process.kill()
            process.wait()


@pytest.mark.parametrize("rank", [0, 1])
def test_a_node_is_killed_and_the_run_ends_bit_for_bit(run, cluster, launched, rank, undisturbed):
    run.slow()
    process = launched()
    run.reach("run", 3, launched.said, lambda: process.poll() is None)
    node = next(node for node in cluster.workers if has_rank(node, rank))
    cluster.workers.remove(node)
    raylet = raylet_of(node)
    for pid in (raylet, *children(raylet)):
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    run.reach("run", run.step("run") + 3, launched.said, lambda: process.poll() is None)
    run.fast()
    assert process.wait(timeout=LATE) == 0, launched.said()
    assert "restart 1 of 3 from the newest checkpoint" in launched.said()
    assert "have ended" in launched.said()
    assert run.left("run") == undisturbed()


def test_told_to_stop_it_writes_a_checkpoint_and_killed_it_leaves_nobody(
    run, cluster, launched, undisturbed
):
    run.slow()
    process = launched()
    run.reach("run", 2, launched.said, lambda: process.poll() is None)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=LATE) == 130, launched.said()
    stopped = run.step("run")
    assert f"stopped at step {stopped}" in (run.folder / "run-rank-0.log").read_text()
    assert "run the same command again to resume" in launched.said()
    process = launched()
    run.reach("run", stopped + 2, launched.said, lambda: process.poll() is None)
    process.kill()
    process.wait()
    end = time.monotonic() + 60
    while ranks(run):
        assert time.monotonic() < end, "a rank lives on without its launcher"
        time.sleep(0.5)
    run.fast()
    assert launched().wait(timeout=LATE) == 0, launched.said()
    assert run.left("run") == undisturbed()


def ranks(run):
    """Processes that train here, with their rank."""
    found = {}
    for place in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            variables = (place / "environ").read_bytes().split(b"\0")
            words = (place / "cmdline").read_bytes().split(b"\0")
            mine = f"PACE={run.pace}".encode() in variables and b"pretrain" in words
            rank = [text[5:] for text in variables if text.startswith(b"RANK=")]
            if mine and rank:
                found[int(place.name)] = int(rank[0])
    return found


def raylet_of(node):
    return next(info.process for info in node.all_processes["raylet"]).pid


def children(pid):
    lists = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(child) for listed in lists for child in listed.read_text().split()]


def has_rank(node, rank):
    """Whether a rank is a grandchild of a node's raylet."""
    wanted = f"RANK={rank}".encode()
    for worker in children(raylet_of(node)):
        for pid in children(worker):
            with contextlib.suppress(OSError):
                if wanted in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    return True
    return False
