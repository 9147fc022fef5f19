"""The result of an evaluation as a table for a terminal of 80 columns, a log or a notebook."""

from collections.abc import Mapping

from rich.markup import escape
from rich.table import Table

from counterpoint.evaluation import ProbeResult, Result
from counterpoint.evaluation.result import PROBE_WORDS
from counterpoint.report.words import four_digits


def probe_table(
    result: Result, *, title: str, before: Mapping[tuple[str, float], float] | None = None
) -> Table:
    """Show each probe: validation, test with its interval, calibration error, chosen settings.

    The spread over seeds has a column where there is more than one seed; `before` are the test
    accuracies of what a run started from, by probe and share of the labels.
    """
    start = ["start"] if before is not None else []
    spread = any(probe.spread is not None for probe in result.probes)
    table = Table(title=escape(title), title_justify="left", caption_justify="left")
    for heading in ("probe", "labels", "val", *start, "test", "95 %", *["spread"] * spread, "ECE"):
        words = heading == "probe"  # only words are folded, never figures
        table.add_column(heading, justify="left" if words else "right", no_wrap=not words)
    for probe in result.probes:
        table.add_row(*_cells(probe, before, spread=spread))
    begun = ["start is the test accuracy before training"] if before is not None else []
    table.caption = "; ".join([*_notes(result), *begun])
    return table


def _cells(
    probe: ProbeResult, before: Mapping[tuple[str, float], float] | None, *, spread: bool
) -> list[str]:
    chosen = ", ".join(f"{name} {value:g}" for name, value in probe.settings.items())
    return [
        PROBE_WORDS[probe.name] + (f"\n[dim]{chosen}[/]" if chosen else ""),
        f"{four_digits(100 * probe.fraction)}%",
        f"{probe.validation:.4f}",
        *([] if before is None else [_figure(before.get((probe.name, probe.fraction)))]),
        f"[bold]{probe.test:.4f}[/]",
        f"{probe.low:.3f} to {probe.high:.3f}",
        *["" if probe.spread is None else f"{probe.spread:.4f}"] * spread,
        f"{probe.calibration_error:.3f}",
    ]


def _figure(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def _notes(result: Result) -> list[str]:
    notes = [f"{result.seconds:.0f} s; ECE is the calibration error"]
    if result.robustness is not None:
        clean, mean = result.robustness["clean"], result.robustness["mean"]
        notes.append(f"under corruptions {mean:.4f}, of {clean:.4f} on the same images clean")
    if any(result.left_out.values()):
        counts = ", ".join(f"{count:,} of {name}" for name, count in result.left_out.items())
        notes.append(f"left out, because they cannot be read: {counts}")
    return notes
