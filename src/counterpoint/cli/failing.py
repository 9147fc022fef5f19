"""Which errors a user can mend, and their messages."""

import dis
from types import TracebackType

from counterpoint.failures import RunFailure

BUG = "this looks like a bug in Counterpoint; please report it with the lines above"


def for_people(error: BaseException) -> str | None:
    """Return the line for a mistake of the user; None for an error that only a traceback explains.

    An error raised by our code has a message for users. One from torch or Python may be a
    ValueError too ("expected a non-empty list of Tensors"), and tells a user nothing.

    >>> for_people(RunFailure("the disk is full"))
    'the disk is full'
    >>> for_people(ValueError("expected a non-empty list of Tensors")) is None
    True
    """
    if isinstance(error, RunFailure):
        return str(error)
    if isinstance(error, ValueError | TypeError | ImportError) and _raised_here(error):
        return str(error)
    if isinstance(error, ModuleNotFoundError) and error.name:
        return f"the package {error.name} is not installed; pip install {error.name}"
    if isinstance(error, OSError):
        return str(error) if error.filename is None else f"{error.filename}: {error.strerror}"
    name = type(error).__name__
    if name == "MisconfigurationException":  # Lightning's, of devices that are not there
        return " ".join(str(error).split())
    if name == "OutOfMemoryError":
        return "the accelerator is out of memory; lower --batch-size or --size"
    return None


def _raised_here(error: BaseException) -> bool:
    """Whether the innermost frame is ours and stopped at a `raise`, not inside a function in C."""
    trace: TracebackType | None = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    if trace is None:
        return False
    code = trace.tb_frame.f_code
    home = str(trace.tb_frame.f_globals.get("__name__", ""))
    return home.partition(".")[0] == "counterpoint" and (
        dis.opname[code.co_code[trace.tb_lasti]] == "RAISE_VARARGS"
    )
