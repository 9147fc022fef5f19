"""From folders of runs to one file."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from counterpoint.data import Splits
from counterpoint.report.findings import Findings, read_findings
from counterpoint.report.material import Material
from counterpoint.report.page import page
from counterpoint.report.samples import Sample, Seen, choose, look
from counterpoint.run import Run
from counterpoint.run_files import MODEL

IMAGES = 2_000  # on the map and among the neighbours: a sheet of them is below 2 MB
MARKS = 8_000  # on all maps together: with many runs a file of less than 5 MB needs fewer


def write_report(
    folders: Sequence[Path],
    out: Path,
    *,
    data: Splits | None = None,
    parts: Mapping[str, type] | None = None,
    images: int = IMAGES,
) -> Path:
    """Write one HTML file about one run, or about several side by side.

    It opens without a network. With `data` it shows the runs' views, nearest neighbours and a
    map of at most `images` images; `parts` are a user's own part classes, by name.

    >>> write_report([run_folder], run_folder / "report.html").name
    'report.html'
    """
    if not folders:
        raise ValueError("report: got no run, needs the folder of at least one")
    runs = tuple(read_findings(folder, parts=parts) for folder in folders)
    sample = None if data is None else choose(data, count=min(images, MARKS // len(folders)))
    seen = () if sample is None else _seen(folders, runs, sample, parts)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(page(Material(runs, sample, seen)), encoding="utf-8")
    return out


def _seen(
    folders: Sequence[Path],
    runs: Sequence[Findings],
    sample: Sample,
    parts: Mapping[str, type] | None,
) -> tuple[Seen, ...]:
    """Ask every run for its vectors of the sample."""
    found = []
    for folder, run in zip(folders, runs, strict=True):
        if not (folder / MODEL).is_file():
            raise FileNotFoundError(f"run: {run.folder} has no model.safetensors; leave out --data")
        opened = Run.open(folder, parts=dict(parts) if parts else None)
        found.append(look(opened.embed(sample.source), sample.labels))
    return tuple(found)
