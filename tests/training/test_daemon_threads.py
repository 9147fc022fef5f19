"""A daemon thread inside of torch must not end a finished process with SIGABRT."""

import subprocess
import sys

import pytest

ENDS_SLOWLY = """
import sys, threading, time
from datetime import timedelta
from torch.distributed import TCPStore
from counterpoint.training.daemon_threads import start_daemon

store = TCPStore("127.0.0.1", 0, is_master=True, timeout=timedelta(seconds=0.3))

def ask():
    try:
        store.get("nobody says this")  # in C++ for 0.3 s, without Python's lock
    except Exception:
        pass

class Slow:
    def __del__(self):
        time.sleep(1)

sys.slow = Slow()  # the interpreter has begun to end when the thread comes back
START
"""


@pytest.mark.parametrize(
    ("start", "survives"),
    [
        ('start_daemon(ask, "ask")', True),
        ("threading.Thread(target=ask, daemon=True).start()", False),
    ],
)
def test_a_thread_in_torch_is_waited_for_before_the_interpreter_ends(start, survives):
    program = ENDS_SLOWLY.replace("START", start)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode == 0) == survives, done.stderr
    assert survives or "terminate called without an active exception" in done.stderr


def test_a_thread_that_never_ends_delays_the_end_by_little():
    program = """
import threading
from counterpoint.training import daemon_threads
daemon_threads.WAIT = 0.2
daemon_threads.start_daemon(threading.Event().wait, "for ever")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stderr
