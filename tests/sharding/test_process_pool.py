"""Processes that share tasks: none stays behind when the one that began them is gone."""

import multiprocessing
import os
import signal
import sys
import threading

import pytest

from counterpoint.sharding import process_pool


def add_one(number):
    return number + 1


@pytest.mark.parametrize("workers", [0, 2])
def test_every_task_has_its_result(workers):
    found = process_pool.done_in_processes(range(9), add_one, workers)
    assert sorted(found) == list(range(1, 10))


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_an_orphan_does_not_wait_for_the_lock_of_one_that_is_gone(monkeypatch):
    """It has a result to send, and the lock of the queue is never given back."""
    context = multiprocessing.get_context("fork")
    following, results, parent = context.Value("q", 0), context.Queue(), os.getpid()
    results._wlock.acquire()
    looks = iter([parent, 1])  # the parent is there, and then it is not
    monkeypatch.setattr(process_pool.os, "getppid", lambda: next(looks))
    worker = context.Process(
        target=process_pool._work, args=(range(5), add_one, following, results, parent)
    )
    worker.start()
    worker.join(timeout=20)
    try:
        assert worker.exitcode == 1
    finally:
        worker.kill()
        worker.join()


class UnsendableError(Exception):
    """An error with a lock in it, as those of clients of stores are: pickle refuses it."""

    def __init__(self, words):
        super().__init__(words)
        self.lock = threading.Lock()


class UnreadableArgumentsError(Exception):
    """An error that pickle writes and cannot read: its arguments are not those it was made of."""

    def __init__(self, shard, why):
        super().__init__(f"{shard}: {why}")


def fail_unsendable(number):
    raise UnsendableError(f"no answer for {number}")


def fail_unreadable(number):
    raise UnreadableArgumentsError(number, "no answer")


def give_a_lock(_number):
    return threading.Lock()


def leave(_number):
    sys.exit(0)


@pytest.fixture
def impatience():
    """Ends a test that waits for ever."""

    def end(_signal, _frame):
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(20)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.mark.usefixtures("impatience")
@pytest.mark.parametrize(
    ("do", "words"),
    [
        (fail_unsendable, r"UnsendableError: no answer for [01]"),
        (fail_unreadable, r"UnreadableArgumentsError: [01]: no answer"),
        (give_a_lock, r"cannot pickle '_thread.lock' object"),
        (leave, r"ended by itself \(exit code 0\)"),
    ],
)
def test_what_cannot_be_sent_ends_the_work_with_words(do, words):
    with pytest.raises(Exception, match=words):
        list(process_pool.done_in_processes(range(3), do, 2))


def test_an_error_that_can_be_sent_arrives_as_it_is():
    with pytest.raises(ZeroDivisionError):
        list(process_pool.done_in_processes(range(3), (1).__truediv__, 2))
