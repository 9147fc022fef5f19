"""The result of an evaluation as a table for a terminal."""

from rich.table import Table

from counterpoint.evaluation import Result

NAMES = {
    "knn": "weighted kNN",
    "linear": "linear",
    "mlp": "MLP, 1,024 units",
    "finetune": "fine-tuned",
}


def probe_table(result: Result, *, title: str) -> Table:
    """Show each probe: validation, test with its interval, spread, calibration and time."""
    table = Table(title=title, title_justify="left")
    for heading in ("probe", "labels", "validation", "test", "95 %", "spread", "calibration", "s"):
        table.add_column(heading, justify="left" if heading == "probe" else "right")
    for probe in result.probes:
        chosen = ", ".join(f"{name} {value:g}" for name, value in probe.settings.items())
        table.add_row(
            f"{NAMES[probe.name]} ({chosen})",
            f"{probe.fraction:.0%}",
            f"{probe.validation:.4f}",
            f"[bold]{probe.test:.4f}[/]",
            f"{probe.low:.3f} to {probe.high:.3f}",
            "" if probe.spread is None else f"{probe.spread:.4f}",
            f"{probe.calibration_error:.3f}",
            f"{probe.seconds:.0f}",
        )
    if result.robustness is not None:
        clean, mean = result.robustness["clean"], result.robustness["mean"]
        table.caption = f"under corruptions {mean:.4f}, of {clean:.4f} on the same images clean"
    return table
