"""A real SLURM of two nodes: a time limit, scancel and a node that is lost."""

import os
import re
import signal
import subprocess
from pathlib import Path

import pytest

from launch.paced_run import BIN, LATE
from launch.slurm_cluster import SlurmCluster, refuse_without_slurm

SIGNAL = 70  # seconds; SLURM looks every 30 s, so this comes up to 30 s earlier


@pytest.fixture
def cluster(tmp_path):
    refuse_without_slurm()
    with SlurmCluster(tmp_path / "slurm") as made:
        yield made


def submit(cluster, run, *more):
    """Submit by the command; return the number of the job and its log."""
    options = ["--nodes", "2", "--gpus-per-node", "0", "--signal-seconds", str(SIGNAL), *more]
    done = subprocess.run(
        [BIN / "counterpoint", "launch", "slurm", *options, *run.command("run")],
        cwd=run.folder,
        env=cluster.environment | run.variables,
        capture_output=True,
        text=True,
        timeout=LATE,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "next: tail -F run-" in done.stdout
    job = int(re.match(r"job (\d+) is submitted: 2 nodes of 1 process", done.stdout)[1])
    return job, run.folder / f"run-{job}.log"


def field(cluster, job, name):
    said = cluster.said("scontrol", "--oneliner", "show", "job", str(job))
    return re.search(rf"\b{name}=(\S+)", said)[1]


def ended(cluster, job, state, log):
    """Wait for the end of a job, in the state that it should have."""
    over = ("COMPLETED", "FAILED", "CANCELLED", "TIMEOUT", "NODE_FAIL")
    cluster.until(lambda: field(cluster, job, "JobState") in over, LATE, log.read_text)
    assert field(cluster, job, "JobState") == state, log.read_text()


def requeued(cluster, job, log):
    """Wait until a job is in the queue again; it begins when its old credential is forgotten."""
    cluster.until(lambda: field(cluster, job, "Restarts") == "1", LATE, log.read_text)


def test_a_job_is_told_to_stop_by_its_time_limit_is_requeued_and_ends_bit_for_bit(
    cluster, run, undisturbed
):
    run.slow(1.5)  # a minute for all steps: SLURM looks at time limits every 30 s
    job, log = submit(cluster, run, "--time", "30")
    run.reach("run", 3, log.read_text)
    hours, minutes, seconds = map(int, field(cluster, job, "RunTime").split(":"))
    limit = ((hours * 60 + minutes) * 60 + seconds + 35) // 60 + 1
    cluster.run("scontrol", "update", f"JobId={job}", f"TimeLimit={limit}")
    requeued(cluster, job, log)
    cluster.run("scontrol", "update", f"JobId={job}", "TimeLimit=30")
    stopped = run.step("run")
    assert 3 <= stopped < run.steps
    assert "stopped at step" in log.read_text()
    assert "is queued again and resumes" in log.read_text()
    run.fast()
    expected = undisturbed()
    ended(cluster, job, "COMPLETED", log)
    assert field(cluster, job, "Restarts") == "1"
    assert run.left("run") == expected


@pytest.mark.full
def test_a_cancelled_job_writes_a_checkpoint_and_the_next_submit_resumes(cluster, run, undisturbed):
    run.slow()
    job, log = submit(cluster, run)
    run.reach("run", 3, log.read_text)
    cluster.run("scancel", str(job))
    ended(cluster, job, "CANCELLED", log)
    cluster.until(lambda: not cluster.tasks("n1") + cluster.tasks("n2"), LATE, log.read_text)
    stopped = run.step("run")
    assert 3 <= stopped < run.steps
    assert f"stopped at step {stopped}" in log.read_text()  # told, and not only killed
    run.fast()
    again, log = submit(cluster, run)
    ended(cluster, again, "COMPLETED", log)
    assert run.left("run") == undisturbed()


@pytest.mark.full
@pytest.mark.parametrize("node", ["n1", "n2"])
def test_a_job_whose_node_is_lost_is_requeued_and_ends_bit_for_bit(cluster, run, node, undisturbed):
    """n1 has the batch script and rank 0, n2 the other rank."""
    run.slow()
    job, log = submit(cluster, run)
    run.reach("run", 3, log.read_text)
    cluster.kill_node(node)
    requeued(cluster, job, log)
    assert 3 <= run.step("run") < run.steps
    run.fast()
    cluster.start_node(node)
    ended(cluster, job, "COMPLETED", log)
    assert run.left("run") == undisturbed()


@pytest.mark.full
def test_a_daemon_that_is_killed_and_comes_back_does_not_disturb_the_run(cluster, run, undisturbed):
    run.slow()
    job, log = submit(cluster, run)
    run.reach("run", 3, log.read_text)
    daemon = int((cluster.folder / "n2.pid").read_text())
    os.kill(daemon, signal.SIGKILL)
    run.reach("run", run.step("run") + 3, log.read_text)
    cluster.start_node("n2")
    run.fast()
    ended(cluster, job, "COMPLETED", log)
    assert field(cluster, job, "Restarts") == "0"
    assert run.left("run") == undisturbed()


@pytest.mark.full
def test_a_rank_that_is_killed_is_started_again_inside_of_the_job(cluster, run, undisturbed):
    run.slow()
    job, log = submit(cluster, run)
    run.reach("run", 3, log.read_text)
    (rank,) = [pid for pid in cluster.tasks("n2") if b"pretrain" in words_of(pid)]
    os.kill(rank, signal.SIGKILL)
    cluster.until(lambda: "restart 1 of 3" in log.read_text(), LATE, log.read_text)
    run.fast()
    ended(cluster, job, "COMPLETED", log)
    assert field(cluster, job, "Restarts") == "0"
    assert run.left("run") == undisturbed()


def words_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
