"""How a measurement ends: a table for people, one line of JSON for programs, an exit code."""

import json
import sys
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table


@dataclass(frozen=True)
class Bar:
    """A target: `value` must be at most `target`."""

    name: str
    value: float
    target: float

    @property
    def met(self) -> bool:
        return self.value <= self.target


def finish(name: str, figures: dict[str, float], bars: list[Bar]) -> None:
    """Print the figures and the bars; exit 1 when a bar is missed."""
    table = Table(title=f"bench {name}", title_justify="left")
    for heading in ("figure", "value"):
        table.add_column(heading)
    for key, value in figures.items():
        table.add_row(key, f"{value:.4g}")
    for bar in bars:
        mark = "met" if bar.met else "MISSED"
        table.add_row(f"[bold]{bar.name}[/]", f"{bar.value:.4g} (at most {bar.target:.4g}) {mark}")
    Console(width=100).print(table)
    record = {
        "bench": name,
        "figures": figures,
        "bars": {
            bar.name: {"value": bar.value, "target": bar.target, "met": bar.met} for bar in bars
        },
    }
    print(json.dumps(record))
    sys.exit(0 if all(bar.met for bar in bars) else 1)
