"""Files with one record per line that go on where a run does."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any


def kept_lines(file: Path, keep: Callable[[dict[str, Any]], bool]) -> list[dict[str, Any]]:
    """Read the records that a run which goes on keeps, and remove the others from the file.

    A process that is killed may leave half a line at the end: it is dropped too.
    """
    if not file.is_file():
        return []
    records = [record for line in file.read_text().splitlines() if (record := _read(line))]
    chosen = [record for record in records if keep(record)]
    file.write_text("".join(json.dumps(record) + "\n" for record in chosen))
    return chosen


def _read(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
