"""A wish to stop: a signal is noted when it comes and acted on when a step has ended."""

import contextlib
import os
import signal
import socket
import sys
import threading
from types import FrameType
from typing import Any

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
        self._before: dict[int, Any] = {}
        self._owner = os.getpid()
        self._ear, self._mouth = socket.socketpair()
        for end in (self._ear, self._mouth):
            end.settimeout(0)
        self._woken = False
        self._heard: set[int] = set()

    def __enter__(self) -> "Notice":
        if threading.current_thread() is threading.main_thread():  # Python's rule for handlers
            for number in (*PREEMPTION, CTRL_C):
                self._before[number] = signal.signal(number, self._note)
            # A thread that waits in C never runs a handler of Python's; the system still writes
            # the number of the signal here.
            others = signal.set_wakeup_fd(self._mouth.fileno(), warn_on_full_buffer=False)
            self._woken = others == -1
            if not self._woken:  # a loop of events, as in a notebook: it keeps its own
                signal.set_wakeup_fd(others)
        return self

    def asked(self) -> int:
        """Return the exit code that a signal has asked for, also when no handler could run; or 0.

        Any thread may call this.
        """
        with contextlib.suppress(OSError):  # nothing to read, or closed
            self._heard.update(self._ear.recv(64))
        if self.preempted or self._heard & {*PREEMPTION}:
            return 128 + signal.SIGTERM
        return 128 + CTRL_C if self.interrupted or CTRL_C in self._heard else 0

    def __exit__(self, *_: object) -> None:
        if self._woken and os.getpid() == self._owner:
            signal.set_wakeup_fd(-1)
        self._ear.close()
        self._mouth.close()
        for number, handler in self._before.items():
            # None: a handler that was not installed by Python cannot be put back.
            signal.signal(number, handler or signal.SIG_DFL)
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
