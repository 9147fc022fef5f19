"""Processes that share tasks: none stays behind when the one that began them is gone."""

import multiprocessing
import os

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
