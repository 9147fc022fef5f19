"""A process that has imported torch, Lightning and the library, and forks commands: `forked.py`.

It runs no operator of torch and has one thread, so that a fork loses nothing. What a command can
still tell from a start of its own: modules are there already, they are not taken apart at the end,
and all commands of one server have the same seed of string hashes.
"""

import atexit
import contextlib
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import threading
import types
from pathlib import Path

WARM = (
    *("torch", "torchvision", "timm", "lightning", "rich.console"),
    *("counterpoint.pretraining", "counterpoint.evaluation", "counterpoint.study"),
)


def serve(control):
    """Fork for each order, and tell how each child ended. Only a child returns: its order."""
    running = {}
    ready = selectors.PollSelector()  # a child would share epoll's
    ready.register(control, selectors.EVENT_READ)
    while True:
        for key, _ in ready.select():
            if key.fd in running:
                ready.unregister(key.fd)
                pid, tell = running.pop(key.fd)
                status = os.waitpid(pid, 0)[1]
                with contextlib.suppress(BrokenPipeError):  # nobody waits for it
                    os.write(tell, b"%d\n" % status)
                os.close(tell)
                os.close(key.fd)
                continue
            order, (*streams, tell) = receive(control)
            pid = os.fork()
            if pid == 0:
                control.close()
                for fd, (_, other) in running.items():
                    os.close(fd)
                    os.close(other)
                return order, streams, tell
            for fd in streams:
                os.close(fd)
            child = os.pidfd_open(pid)
            running[child] = pid, tell
            ready.register(child, selectors.EVENT_READ)


def receive(control):
    """Return an order and its open files; end when nobody is there to give one."""
    head, fds, _, _ = socket.recv_fds(control, 8, 4)
    if not head:
        os._exit(0)
    size, text = int.from_bytes(head, "big"), b""
    while len(text) < size:
        text += control.recv(size - len(text))
    return json.loads(text), fds


def become(order, streams, tell, learned):
    """Be the process that was asked for; say so when signals mean what they mean there."""
    if order["session"]:
        os.setsid()
    for number, fd in enumerate(streams):
        os.dup2(fd, number)
        os.close(fd)
    sys.stdout.reconfigure(line_buffering=os.isatty(1))
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(learned | order["environment"])
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.write(tell, b"%d\n" % os.getpid())
    os.close(tell)


def program(words):
    """Set up argv, path and `__main__` for a script or -c, and return its code."""
    sys.orig_argv = words
    main = sys.modules["__main__"] = types.ModuleType("__main__")
    rest = words[1:] if words[0] == sys.executable else words
    importlib.invalidate_caches()
    if rest[0] == "-c":
        sys.argv, sys.path[0] = ["-c", *rest[2:]], ""
        return compile(rest[1], "<string>", "exec"), main
    sys.argv, sys.path[0] = rest, str(Path(rest[0]).absolute().parent)
    main.__file__ = rest[0]
    return compile(Path(rest[0]).read_bytes(), rest[0], "exec"), main


def finish(code, main):
    """Run a program to its end, and leave as the interpreter does, but for one thing.

    Modules are not taken apart: in a copied process that costs seconds.
    """
    status, interrupted = 0, False
    try:
        exec(code, vars(main))
    except SystemExit as stop:
        status = stop.code if isinstance(stop.code, int) else int(stop.code is not None)
        if stop.code is not None and not isinstance(stop.code, int):
            print(stop.code, file=sys.stderr)
    except BaseException as error:  # noqa: BLE001 (whatever it is, it is shown)
        status, interrupted = 1, isinstance(error, KeyboardInterrupt)
        trace = error.__traceback__.tb_next
        sys.excepthook(type(error), error.with_traceback(trace), trace)
    threading._shutdown()
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    if interrupted:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGINT)
    os._exit(status & 0xFF)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # of a terminal: the commands decide
    before = dict(os.environ)
    for name in WARM:
        importlib.import_module(name)
    learned = {name: text for name, text in os.environ.items() if before.get(name) != text}
    gc.collect()
    gc.freeze()  # children leave these pages alone
    control = socket.socket(fileno=int(sys.argv[1]))
    tasks = len([*Path("/proc/self/task").iterdir()])
    control.sendall(json.dumps({"tasks": tasks, "learned": learned}).encode() + b"\n")
    order, *files = serve(control)
    become(order, *files, learned)
    finish(*program(order["words"]))
