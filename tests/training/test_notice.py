"""A wish to stop is heard by any thread, also while the main thread waits in C."""

import os
import signal
import sys
import threading
import time

import forked
from counterpoint.training.signals import Notice

WAITING = """
import ctypes, os, signal, threading, time
from counterpoint.training.signals import Notice

def watch(notice):
    while not notice.asked():
        time.sleep(0.01)
    print(notice.asked(), notice.preempted, flush=True)
    os._exit(0)

lock, libc = ctypes.create_string_buffer(64), ctypes.CDLL(None)
libc.pthread_mutex_lock(lock)
with Notice() as notice:
    threading.Thread(target=watch, args=(notice,), daemon=True).start()
    threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGTERM)).start()
    libc.pthread_mutex_lock(lock)  # for ever: it is ours, and no signal interrupts it
"""


def test_a_signal_is_heard_while_the_main_thread_waits_in_c():
    done = forked.run(
        [sys.executable, "-c", WAITING], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.split() == ["143", "False"], done  # no handler of Python's could run


def test_no_signal_is_no_wish_in_any_thread():
    said = []
    with Notice() as notice:
        assert notice.asked() == 0

    def elsewhere():
        with Notice() as there:
            said.append(there.asked())

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join(timeout=5)
    assert said == [0]


def test_a_signal_is_heard_and_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    with Notice() as notice:
        os.kill(os.getpid(), signal.SIGTERM)
        end = time.monotonic() + 5
        while not notice.asked() and time.monotonic() < end:
            time.sleep(0.01)
        assert notice.asked() == 143
        assert notice.preempted
    assert signal.getsignal(signal.SIGTERM) is before
    assert signal.set_wakeup_fd(-1) == -1
