"""A wish to stop: a signal is noted when it comes and acted on when a step has ended."""

import os
import signal
import sys
import threading
from types import FrameType

PREEMPTION = (signal.SIGTERM, signal.SIGUSR1)  # schedulers send the one or the other
CTRL_C = signal.SIGINT
AGAIN = b"counterpoint: stopping after this step; Ctrl-C again stops at once\n"


class Notice:
    """Signals to this process while it trains: nothing is done in the handler but to note them.

    Lightning's handler talks to the other ranks from inside of the handler, which hangs when
    only some ranks get the signal. Here the ranks agree at the end of a step (`Guard`).
    """

    def __init__(self) -> None:
        self.preempted = False
        self.interrupted = False
        self._before: dict[int, object] = {}
        self._owner = os.getpid()

    def __enter__(self) -> "Notice":
        if threading.current_thread() is threading.main_thread():  # Python's rule for handlers
            for number in (*PREEMPTION, CTRL_C):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self._before.items():
            # None: a handler that was not installed by Python cannot be put back.
            signal.signal(number, handler or signal.SIG_DFL)  # type: ignore[arg-type]
        self._before.clear()

    def _note(self, number: int, _frame: FrameType | None) -> None:
        if os.getpid() != self._owner:  # a worker that was forked from us: it just ends
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        elif number == CTRL_C:
            if self.interrupted:
                raise KeyboardInterrupt
            self.interrupted = True
            os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, AGAIN)
        else:
            self.preempted = True


class Stopped(SystemExit):
    """A run that was asked to stop, after its checkpoint was written."""

    def __init__(self, *, preempted: bool) -> None:
        self.preempted = preempted
        super().__init__(128 + (signal.SIGTERM if preempted else signal.SIGINT))
