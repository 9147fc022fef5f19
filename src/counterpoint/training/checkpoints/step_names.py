"""Names inside a folder of checkpoints."""

import re
import secrets
from pathlib import Path


def step_name(step: int) -> str:
    """Name the checkpoint of a step.

    >>> step_name(120)
    'step-00000120'
    """
    return f"step-{step:08d}"


def step_of(name: str) -> int | None:
    """Read the step from a name; None when it is not the name of a checkpoint.

    >>> step_of("step-00000120"), step_of("step-120"), step_of("last")
    (120, None, None)
    """
    found = re.fullmatch(r"step-([0-9]{8,18})", name)
    return int(found[1]) if found and step_name(int(found[1])) == name else None


def hidden(path: Path, purpose: str) -> Path:
    """Return a name next to a checkpoint that no one can foresee.

    The purpose is "new" while it is written, "old" while another takes its place, "gone" while
    it is deleted.
    """
    return path.with_name(f".{path.name}.{secrets.token_hex(8)}.{purpose}")


def purpose_of(name: str) -> tuple[str, str] | None:
    """Read which checkpoint a hidden name stands for, and its purpose.

    >>> purpose_of(".step-00000120.0123456789abcdef.old")
    ('step-00000120', 'old')
    """
    found = re.fullmatch(r"\.(step-[0-9]{8,18})\.[0-9a-f]{16}\.(new|old|gone)", name)
    return (found[1], found[2]) if found else None
