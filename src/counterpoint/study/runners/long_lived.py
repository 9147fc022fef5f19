"""Trials in processes that live for several of them: short trials do not pay for a start each."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from contextlib import suppress
from queue import SimpleQueue
from types import TracebackType

from counterpoint.data.workers import cores
from counterpoint.study.outcome import Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.attempts import ProcessDied, TrialFailed, attempt
from counterpoint.study.runners.events import Tell, nobody
from counterpoint.study.runners.local import STOPPED, not_done
from counterpoint.study.trial import Trial

TRIALS = 20  # our choice: a start of 10 s is then half a second of each trial
DEATHS = 2  # our choice: what another program did to a process is no fault of its trial


class LongLived:
    """`at_once` processes with `cpus` cores each, for any number of calls of `run`.

    A process is replaced after `trials` trials, so that what they leave in memory does not pile
    up, and when it dies. The trial that it had is run again; one whose process died three times
    has failed.

    >>> with LongLived(at_once=2) as workers:  # nothing is started before there is a trial
    ...     list(workers.run([], ResultStore("memory://none")))
    []
    """

    def __init__(self, *, cpus: int = 1, at_once: int | None = None, trials: int = TRIALS) -> None:
        self.at_once = at_once or max(1, cores() // cpus)
        self._workers = [_Worker(cpus, trials) for _ in range(self.at_once)]

    def __enter__(self) -> "LongLived":
        return self

    def __exit__(
        self,
        _kind: type[BaseException] | None,
        _error: BaseException | None,
        _trace: TracebackType | None,
    ) -> None:
        for worker in self._workers:
            worker.end()

    def run(
        self, trials: Sequence[Trial], store: ResultStore, *, retries: int = 0, tell: Tell = nobody
    ) -> Iterator[Outcome]:
        """Run trials; yield outcomes as they are ready.

        When the caller stops, so do the processes, each with a checkpoint of its trial.
        """
        idle: SimpleQueue[_Worker] = SimpleQueue()
        for worker in self._workers:
            idle.put(worker)

        def one(trial: Trial) -> Outcome:
            worker = idle.get()
            try:
                return attempt(
                    trial,
                    store,
                    lambda: worker.ask(trial, store),
                    retries=retries,
                    deaths=DEATHS,
                    tell=tell,
                )
            finally:
                idle.put(worker)

        pool = ThreadPoolExecutor(max_workers=self.at_once)
        ended = False
        try:
            futures = [pool.submit(one, trial) for trial in not_done(trials, store, tell)]
            for future in as_completed(futures):
                yield future.result()
            ended = True
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
            if not ended:
                for worker in self._workers:
                    worker.terminate()
            pool.shutdown(wait=True)


class _Worker:
    """A process that is asked for one trial after the other; started when it is first asked."""

    def __init__(self, cpus: int, trials: int) -> None:
        self.cpus, self.trials = cpus, trials
        self.process: subprocess.Popen[str] | None = None
        self.left = 0
        self.said = tempfile.TemporaryFile("w+")  # noqa: SIM115 (it is closed by `end`)

    def ask(self, trial: Trial, store: ResultStore) -> Outcome:
        """Run a trial there; raise what it says, or what is known of its death."""
        process = self._alive()
        assert process.stdin is not None
        assert process.stdout is not None
        self.left -= 1
        try:
            process.stdin.write(json.dumps([store.root, trial.to_json()]) + "\n")
            process.stdin.flush()
            reply = process.stdout.readline()
        except BrokenPipeError:
            reply = ""
        found = store.find(trial)
        if found is not None:
            return found
        if reply:
            raise TrialFailed(json.loads(reply))
        code = self._leave()
        if code in STOPPED:
            raise KeyboardInterrupt
        self.said.seek(0)
        last = self.said.read().strip().splitlines()[-1:] or ["it said nothing"]
        raise ProcessDied(f"process ended with {code}: {last[0]}")

    def terminate(self) -> None:
        """Ask the process to stop now; its trial writes a checkpoint."""
        process = self.process  # the thread that waits for it may set it to None meanwhile
        if process is not None:
            process.terminate()

    def end(self) -> None:
        """Let the process end: there are no more trials."""
        self._leave()
        self.said.close()

    def _alive(self) -> subprocess.Popen[str]:
        if self.left == 0 or (self.process is not None and self.process.poll() is not None):
            self._leave()
        if self.process is None:
            self.left = self.trials
            self.said.seek(0)
            self.said.truncate()
            # -P: else the current folder comes first, and a torch.py in it would be run.
            module = "counterpoint.study.runners.long_lived_worker"
            self.process = subprocess.Popen(  # noqa: S603 (this interpreter, on a module of ours)
                [sys.executable, "-P", "-m", module, str(self.cpus)],
                env=os.environ | {"OMP_NUM_THREADS": str(self.cpus)},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self.said,
                text=True,
            )
        return self.process

    def _leave(self) -> int:
        """Wait for the process to end, which it does when there is nothing more to read."""
        if self.process is None:
            return 0
        process, self.process = self.process, None
        for pipe in (process.stdin, process.stdout):
            with suppress(BrokenPipeError):  # what was not read by one that died
                assert pipe is not None
                pipe.close()
        return process.wait()
