"""What a rank says of itself: that it moves, that its workers do, and what the system knows."""

import os
import subprocess
import sys
import threading
import time
from types import SimpleNamespace

import pytest

from counterpoint import pulse
from counterpoint.data.crew import BUSY, COUNT, PID, Crew
from counterpoint.training.watchdog.status import LONG, RankStatus, StatusReporter

PATIENCE = 10.0


class Thread:
    """A thread that is watched: it makes its own speaker, and then does what it is told."""

    def __init__(self, work, *, computes_here=True):
        self.over, self.speaker = threading.Event(), None
        ready = threading.Event()

        def run():
            self.speaker = StatusReporter(
                patience=PATIENCE, asked=lambda: 0, computes_here=computes_here
            )
            ready.set()
            work(self.over)

        self.thread = threading.Thread(target=run)
        self.thread.start()
        ready.wait()

    def __enter__(self):
        time.sleep(0.05)
        self.speaker.say(0.1)
        return self.speaker

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()


def burn(over):
    while not over.is_set():
        sum(range(1000))


def wait(over):
    over.wait()


def counts(speaker, *, times=5, seconds=0.1, each=lambda: None):
    found = []
    for _ in range(times):
        time.sleep(0.02)
        each()
        found.append(speaker.say(seconds).count)
    return found


def test_a_thread_that_waits_does_not_move_and_one_that_computes_does():
    with Thread(wait) as speaker:
        assert len({*counts(speaker)}) == 1
    with Thread(burn) as speaker:
        assert len({*counts(speaker)}) == 5
    with Thread(burn, computes_here=False) as speaker:  # a GPU's driver burns while it waits
        assert len({*counts(speaker)}) == 1


def test_computing_without_an_end_is_a_standstill_too():
    with Thread(burn) as speaker:
        counts(speaker, times=LONG + 1, seconds=PATIENCE)
        assert len({*counts(speaker)}) == 1


def test_a_beat_and_a_picture_of_a_worker_are_moves():
    crew = Crew(1)
    with Thread(wait) as speaker:
        assert len({*counts(speaker, each=pulse.beat)}) == 5
        speaker.batches = SimpleNamespace(crew=crew)
        crew.table[0, PID] = os.getpid()

        def read():
            crew.table[0, COUNT] += 1

        assert len({*counts(speaker, each=read)}) == 5
        assert len({*counts(speaker)}) == 1


@pytest.mark.parametrize("busy", [True, False])
def test_a_worker_is_in_trouble_when_it_owes_a_batch(busy):
    crew = Crew(1)
    crew.table[0, PID], crew.table[0, BUSY] = os.getpid(), int(busy)
    with Thread(wait) as speaker:
        speaker.batches = SimpleNamespace(crew=crew)
        speaker.say(1.0)
        assert speaker.say(PATIENCE).trouble == ""
        said = speaker.say(1.0)
        assert (f"process {os.getpid()} hangs" in said.trouble) == busy


def test_compiling_has_more_patience():
    with Thread(wait) as speaker:
        speaker.compiling = True
        assert len({*counts(speaker)}) == 5


def test_a_stopped_child_is_seen_and_the_line_of_code_is_named():
    child = subprocess.Popen([sys.executable, "-c", "import os; os.kill(os.getpid(), 19)"])
    try:
        with Thread(wait) as speaker:
            end = time.monotonic() + 10
            while "is stopped" not in (where := speaker.say(0.1).where) and time.monotonic() < end:
                time.sleep(0.01)
        assert f"process {child.pid} is stopped (kill -CONT {child.pid}" in where
    finally:
        child.kill()
        child.wait()


def test_what_is_said_is_read_again():
    said = RankStatus(tick=3, count=7, phase="loading a batch", alone=True, trouble="x", asked=143)
    assert RankStatus.read(said.write()) == said
