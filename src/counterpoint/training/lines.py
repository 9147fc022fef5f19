"""Files with one record per line that go on where a run does."""

import json
from pathlib import Path
from typing import Any


def read_lines(file: Path) -> list[dict[str, Any]]:
    """Read the records of a file; half a line, which a killed process leaves, is left out."""
    if not file.is_file():
        return []
    return [record for line in file.read_text().splitlines() if (record := _read(line))]


def write_lines(file: Path, records: list[dict[str, Any]]) -> None:
    """Write records, one per line."""
    file.write_text("".join(json.dumps(record) + "\n" for record in records))


def _read(line: str) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None
