"""What a rank knows of the processes of the others on its machine."""

import os
import signal
import subprocess
import sys
import time

import pytest

from counterpoint.training.watchdog.peers import Peers
from counterpoint.training.watchdog.processes import state


@pytest.fixture
def busy():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        yield process.pid
        process.kill()


def test_a_rank_that_was_stopped_does_not_compute(busy):
    """A moment ago it did: that is not a reason to wait for it."""
    ranks = Peers(pids=(os.getpid(), busy), here=(True, True), rank=0)
    end = time.monotonic() + 20
    while not ranks.computes(1) and time.monotonic() < end:
        time.sleep(0.05)
    assert ranks.computes(1)
    os.kill(busy, signal.SIGSTOP)
    while state(busy) != "T" and time.monotonic() < end:
        time.sleep(0.01)
    assert not ranks.computes(1)
