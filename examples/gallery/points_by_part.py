"""
How points divide over the five parts
=====================================
AMDIM with one part changed and four held, three seeds each (`docs/results.md`): how far apart the
choices of each part are.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt

from counterpoint.study.bundle import read_study
from counterpoint.study.tables.outcome_table import tabulate
from counterpoint.study.tables.part_effects import decided, written

SMOKE = "--smoke" in sys.argv
file = Path(__file__).parents[2] / "docs" / "results" / "parts.json"
outcomes, planned = read_study(str(file))
table = tabulate(outcomes, planned=planned, figure="linear", compare="column")
trials = [trial for _, trial in planned] or [outcome.trial for outcome in outcomes]
print(written(decided(table, trials)))

# %%
rows = [(row, table.cells[row, column]) for row in table.rows for column in table.columns]
plt.figure(figsize=(7, 0.3 * len(rows) + 1))
for place, (_, cell) in enumerate(reversed(rows)):
    plt.plot([100 * v for v in cell.values], [place] * len(cell.values), "o", color="#4c8fd0")
plt.yticks(range(len(rows)), [row for row, _ in reversed(rows)])
plt.xlabel("linear probe on CIFAR-10, per cent; a point is a seed")
plt.show()
