"""The table of docs/encoders.md, from docs/results/timm-encoders.json."""

import json
import sys
from pathlib import Path

WAYS = {"one": "one process", "two": "two processes", "moco": "MoCo's groups"}


def table(found):
    """Write the outcomes, family by family, and what was said to those that were refused."""
    rows = [
        f"| family | name | side | {' | '.join(WAYS.values())} | weights in timm |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, one in sorted(found.items(), key=lambda item: (item[1]["family"], item[0])):
        cells = [_cell(one[way]) for way in WAYS]
        given = [one[way]["timm"] for way in WAYS if one[way]["timm"] is not None]
        timm = _figure(max(given)) if given else ""
        rows.append(f"| {one['family']} | {name} | {one['side']} | {' | '.join(cells)} | {timm} |")
    refused = {name: one["one"]["refused"] for name, one in found.items() if one["one"]["refused"]}
    rows += ["", "Refused before training, in these words:", ""]
    rows += [f"- `{name}`: {refused[name]}" for name in sorted(refused)]
    return "\n".join(rows)


def _cell(found):
    if found["refused"]:
        return "refused"
    return "failed" if found["failed"] else _figure(found["opened"])


def _figure(value):
    return f"{value:.0e}" if value else "0"


if __name__ == "__main__":
    sys.stdout.write(table(json.loads(Path(sys.argv[1]).read_text())["found"]) + "\n")
