"""Metrics as rows of a CSV file, which a run that goes on continues."""

import csv
import io
from pathlib import Path
from typing import Any

from lightning.pytorch.loggers import Logger
from lightning.pytorch.utilities import rank_zero_only

FILE = "metrics.csv"


class CsvRows(Logger):
    """Append a row per logged step to `metrics.csv`.

    Lightning's own CSV logger deletes what an earlier part of the run has written.
    """

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.file = folder / FILE
        self.columns: list[str] = []

    @property
    def name(self) -> str:
        return ""

    @property
    def version(self) -> str:
        return ""

    @rank_zero_only
    def log_hyperparams(self, params: Any) -> None:
        """Write nothing: run.json has them."""

    @rank_zero_only
    def log_metrics(self, metrics: dict[str, float], step: int | None = None) -> None:
        row = {**metrics, "step": step}
        if not set(row) <= set(self.columns):
            old = _rows(self.file) if self.columns else []
            self.columns = sorted({*self.columns, *row})
            self._write(old)
        with self.file.open("a") as file:
            file.write(_line([row.get(column, "") for column in self.columns]))

    @rank_zero_only
    def go_on(self, step: int) -> None:
        """Keep the rows before a step, and drop those that will be made again."""
        rows = [
            row for row in _rows(self.file) if row["step"].isdigit() and int(row["step"]) < step
        ]
        self.columns = list(rows[0]) if rows else []
        self._write(rows)

    def _write(self, rows: list[dict[str, str]]) -> None:
        lines = [_line([row.get(column, "") for column in self.columns]) for row in rows]
        header = _line(self.columns) if self.columns else ""
        self.file.parent.mkdir(parents=True, exist_ok=True)
        self.file.write_text(header + "".join(lines))


def _rows(file: Path) -> list[dict[str, str]]:
    """Read whole rows; half a row at the end is what a killed process leaves."""
    if not file.is_file():
        return []
    whole = file.read_text().rpartition("\n")[0]
    return [row for row in csv.DictReader(io.StringIO(whole)) if None not in row.values()]


def _line(values: list[Any]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
