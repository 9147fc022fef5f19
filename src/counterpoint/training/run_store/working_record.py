"""What a folder of this machine knows of the store that it belongs to."""

import json
from dataclasses import dataclass, field
from pathlib import Path

from counterpoint.framework.codec import from_text
from counterpoint.whole_file import write_whole

RECORD = ".store.json"

Seen = tuple[int, int]
"""The size of a file, and when it was changed, in nanoseconds."""


@dataclass
class WorkingRecord:
    """Which run the folder is of, and which of its files the store has.

    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> WorkingRecord("a1b2", {"metrics.csv": (10, 7)}).write(folder)
    >>> WorkingRecord.read(folder)
    WorkingRecord(run='a1b2', uploaded={'metrics.csv': (10, 7)})
    """

    run: str = ""
    """A word that the run got when it began: one that was deleted and begun anew has another."""
    uploaded: dict[str, Seen] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "WorkingRecord":
        """Read the record of a folder; an empty one where there is none, or a damaged one."""
        try:
            found = from_text((folder / RECORD).read_text())
        except (OSError, ValueError):
            return cls()
        match found:
            case {"run": str(run), "uploaded": dict(files)}:
                seen = {name: (int(one[0]), int(one[1])) for name, one in files.items()}
                return cls(run, seen)
        return cls()

    def write(self, folder: Path) -> None:
        """Write the record, whole or not at all."""
        record = {"run": self.run, "uploaded": self.uploaded}
        write_whole(folder / RECORD, json.dumps(record))


def files_in(folder: Path) -> dict[str, Seen]:
    """List the files below a folder with what they are known by."""
    found: dict[str, Seen] = {}
    for path in folder.rglob("*"):
        try:
            if path.is_file() and not path.is_symlink():
                known = path.stat()
                name = path.relative_to(folder).as_posix()
                found[name] = (known.st_size, known.st_mtime_ns)
        except FileNotFoundError:  # it was retired while we looked
            continue
    return found
