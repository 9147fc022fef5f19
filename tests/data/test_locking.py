"""A lock ends with the work, also when a worker was forked while it was held."""

import multiprocessing

import pytest

from counterpoint.data.locking import alone
from counterpoint.data.stores.shard_cache import ShardCache
from counterpoint.study.workplace import alone_in

FORK = multiprocessing.get_context("fork")


def _enter(place, entered):
    with place():
        entered.set()


@pytest.mark.parametrize("kind", ["file", "cache", "trial"])
def test_a_lock_ends_although_a_child_was_forked_while_it_was_held(kind, tmp_path):
    places = {
        "file": lambda: alone(tmp_path / "lock"),
        "cache": lambda: ShardCache(tmp_path / "cache")._alone(),
        "trial": lambda: alone_in(tmp_path / "trial"),
    }
    over, entered = FORK.Event(), FORK.Event()
    with places[kind]():
        worker = FORK.Process(target=over.wait, daemon=True)
        worker.start()  # as the loader forks its workers while a thread makes room in the cache
    another = FORK.Process(target=_enter, args=(places[kind], entered), daemon=True)
    another.start()
    try:
        assert entered.wait(20), "the lock is still held, by a process that knows nothing of it"
    finally:
        over.set()
        for process in (worker, another):
            process.join(5)
            process.kill()
