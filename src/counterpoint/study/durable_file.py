"""A text file that is whole or not there, whenever the process is killed."""

import os
import uuid
from pathlib import Path


def write_durably(file: Path, text: str) -> None:
    """Write a file, and its folder if there is none; until all is written the old one stays."""
    file.parent.mkdir(parents=True, exist_ok=True)
    new = file.with_name(f"{file.name}.{uuid.uuid4().hex[:12]}")  # another machine may write it too
    try:
        with new.open("xb") as opened:
            opened.write(text.encode())
            opened.flush()
            os.fsync(opened.fileno())
        new.replace(file)
    finally:
        new.unlink(missing_ok=True)
