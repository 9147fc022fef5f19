"""Work in several processes of this machine: each takes the next task until there is none."""

import multiprocessing
import os
import pickle
import queue
import signal
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

from counterpoint import pulse
from counterpoint.failures import RunFailure

Task = TypeVar("Task")
Result = TypeVar("Result")
PATIENCE = 1.0  # seconds between looks at whether the processes live


def done_in_processes(
    tasks: Sequence[Task], do: Callable[[Task], Result], workers: int
) -> Iterator[Result]:
    """Return the results of tasks as they come; with 0 workers they are done here, in order.

    The processes are forks, so that what is open here is open there. They end when this process
    does, however that ends: none stays behind that writes.
    """
    if workers == 0 or len(tasks) < 2:
        yield from map(do, tasks)
        return
    context = multiprocessing.get_context("fork")
    following, results = context.Value("q", 0), context.Queue()
    arguments = tasks, do, following, results, os.getpid()
    processes = [
        context.Process(target=_work, args=arguments, daemon=True)
        for _ in range(min(workers, len(tasks)))
    ]
    for process in processes:
        process.start()
    try:
        for _ in tasks:
            found, error = _next(results, processes)
            if error is not None:
                raise error
            yield found
    finally:
        for process in processes:
            process.terminate()
            process.join()


def _next(results: Any, processes: Sequence[Any]) -> tuple[Any, BaseException | None]:
    while True:
        # Looked at first: what a process sent before it ended is then there to be taken.
        over = all(process.exitcode is not None for process in processes)
        try:
            sent = results.get(timeout=PATIENCE)
        except queue.Empty:
            ended = [process for process in processes if process.exitcode not in (None, 0)]
            ended = list(processes) if over and not ended else ended
            if ended:
                raise RunFailure(
                    f"a worker process ended by itself (exit code {ended[0].exitcode}): is there "
                    "enough memory? run the same command again to resume, perhaps with --workers 1"
                ) from None
        else:
            found, error = pickle.loads(sent)  # noqa: S301 (from a process of ours)
            return found, error


def _work(
    tasks: Sequence[Any], do: Callable[[Any], Any], following: Any, results: Any, parent: int
) -> None:
    """Do tasks until there is none; a signal from the keyboard is for the process that waits."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    pulse.listen(lambda: _end_with(parent))  # every picture beats
    while os.getppid() == parent:
        with following.get_lock():
            number = following.value
            following.value += 1
        if number >= len(tasks):
            return
        try:
            # The queue would pickle in a thread of its own, where a failure is lost.
            results.put(pickle.dumps((do(tasks[number]), None)))
        except Exception as error:  # noqa: BLE001 (raised again by the process that waits)
            results.put(pickle.dumps((None, _sendable(error))))
            return
    # Not a return: that waits until results are sent, and another process may have ended with
    # the lock of the queue in its hands.
    os._exit(1)


def _sendable(error: Exception) -> Exception:
    """Return an error as it is, or in words where pickle cannot bring it to another process."""
    try:
        pickle.loads(pickle.dumps(error))  # noqa: S301 (our own)
    except Exception:  # noqa: BLE001 (whatever is in an error may refuse in its own way)
        kind = type(error)
        return RunFailure(
            f"a worker process ended with {kind.__module__}.{kind.__qualname__}: {error}"
        )
    return error


def _end_with(parent: int) -> None:
    """End this process if the one that began it is gone."""
    if os.getppid() != parent:
        os._exit(1)
