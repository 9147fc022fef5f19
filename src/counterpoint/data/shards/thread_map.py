"""The same question to many files, asked by several threads: a store answers in its own time."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from counterpoint.progress import tracked

THREADS = 16  # a store takes 50 ms for an answer, whoever else asks

Item = TypeVar("Item")
Result = TypeVar("Result")


def thread_map(
    function: Callable[[Item], Result], items: Sequence[Item], what: str
) -> Iterator[Result]:
    """Return the results in the order of the items, and say how far it is.

    >>> list(thread_map(abs, [-3, 2], "counting"))
    [3, 2]
    """
    pool = ThreadPoolExecutor(max_workers=min(THREADS, max(1, len(items))))
    try:
        results = pool.map(function, items)
        for _ in tracked(items, what):
            yield next(results)
    finally:
        pool.shutdown(cancel_futures=True)
