"""The table and the loss curves of `scripts/bench learn`: `scripts/bench learned`.

Prints the Markdown of docs/results.md from docs/results/learn-*.json and draws learn.svg there.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from counterpoint.catalogue import METHODS

WIDTH, HEIGHT, COLUMNS, MARGIN = 210, 130, 4, 34


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("docs/results"))
    folder = parser.parse_args().folder
    records = [
        json.loads(file.read_text())
        for name in METHODS
        if (file := folder / f"learn-{name}-small.json").is_file()
    ]
    print(table(records))
    (folder / "learn.svg").write_text(figure(records))


def table(records: list[dict[str, Any]]) -> str:
    """One row for each method: before, after, cost."""
    rows = [
        "| method | random | trained | gain | images | core minutes | images/core s | peak MB |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for r in records:
        before, after = r["knn, random weights"], r["knn, trained"]
        gain = f"{100 * (after - before):+.1f}"
        speed = r["images"] / (60 * r["core minutes"])
        cost = f"{r['images']:,} | {r['core minutes']:.0f} | {speed:.0f} | {r['peak MB']:,.0f}"
        rows.append(f"| `{r['method']}` | {before:.3f} | {after:.3f} | {gain} | {cost} |")
    return "\n".join(rows)


def figure(records: list[dict[str, Any]]) -> str:
    """Small loss curves side by side, each on its own scale."""
    lines = -(-len(records) // COLUMNS)
    width, height = COLUMNS * WIDTH, lines * HEIGHT
    charts = "\n".join(
        f'<g transform="translate({n % COLUMNS * WIDTH} {n // COLUMNS * HEIGHT})">{chart(r)}</g>'
        for n, r in enumerate(records)
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        f'font-family="sans-serif" font-size="11">\n<title>Loss over training, each method'
        f'</title>\n<rect width="{width}" height="{height}" fill="#fff"/>\n{charts}\n</svg>\n'
    )


def chart(record: dict[str, Any]) -> str:
    """One curve with its ends in figures."""
    losses = record["losses"]
    low, high = min(losses), max(losses)
    wide, tall = WIDTH - MARGIN - 12, HEIGHT - 48
    points = " ".join(
        f"{MARGIN + wide * n / max(1, len(losses) - 1):.1f},"
        f"{26 + tall * (high - loss) / ((high - low) or 1):.1f}"
        for n, loss in enumerate(losses)
    )
    below = f"{record['images']:,} images"
    return (
        f'<text x="{MARGIN}" y="16" font-weight="bold">{record["method"]}</text>'
        f'<path d="M{MARGIN} 26V{26 + tall}H{MARGIN + wide}" fill="none" stroke="#888"/>'
        f'<polyline points="{points}" fill="none" stroke="#0a58ca" stroke-width="1.5"/>'
        f'<text x="{MARGIN - 4}" y="32" text-anchor="end">{high:.3g}</text>'
        f'<text x="{MARGIN - 4}" y="{26 + tall}" text-anchor="end">{low:.3g}</text>'
        f'<text x="{MARGIN + wide}" y="{40 + tall}" text-anchor="end">{below}</text>'
    )


if __name__ == "__main__":
    main()
