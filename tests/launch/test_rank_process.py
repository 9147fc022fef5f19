"""A rank ends with the worker that started it, however that ends."""

import os
import signal
import subprocess
import sys
import time

from counterpoint.training.watchdog.processes import alive

PARENT = """
import os, subprocess, sys, time
rank = [sys.executable, "-P", "-m", "counterpoint.launch.rank_process", str(os.getpid())]
child = subprocess.Popen([*rank, "/bin/sleep", "60"])
while b"sleep" not in open(f"/proc/{child.pid}/cmdline", "rb").read():
    time.sleep(0.05)
print(child.pid, flush=True)
time.sleep(60)
"""


def test_a_rank_does_not_outlive_a_worker_that_is_killed():
    path = os.pathsep.join(filter(None, sys.path))
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT],
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": path},
    )
    with parent:
        rank = int(parent.stdout.readline())
        assert alive(rank)
        parent.send_signal(signal.SIGKILL)
    end = time.monotonic() + 10
    while alive(rank):
        assert time.monotonic() < end, "the rank lives on"
        time.sleep(0.05)


def test_a_rank_whose_worker_has_ended_before_does_not_begin():
    words = [sys.executable, "-P", "-m", "counterpoint.launch.rank_process", "1", "/bin/true"]
    path = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run(words, env=os.environ | {"PYTHONPATH": path}, check=False)
    assert done.returncode == 1
