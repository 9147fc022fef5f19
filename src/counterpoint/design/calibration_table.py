"""The agreement of criteria with labelled probes as a Markdown table."""

from collections.abc import Sequence
from math import isnan

from counterpoint.design.criteria_calibration import FEWEST, Agreement

WORDS = "In parentheses: 95 % of bootstrap draws of candidates, each with all its trials."


def calibration_table(found: Sequence[Agreement]) -> str:
    """Write a row for each criterion and two columns for each probe.

    >>> one = Agreement(criterion="lidar", probe="knn", trials=60, candidates=40, groups=1,
    ...     rho=0.71, low=0.55, high=0.82, regret=0.4, at_random=6.0)
    >>> print(calibration_table([one]).rstrip())
    | criterion | knn: rank correlation | knn: points lost |
    |---|---|---|
    | lidar | 0.71 (0.55 to 0.82) | 0.4 |
    | drawn at random | | 6.0 |
    <BLANKLINE>
    knn: 60 trials of 40 candidates in 1 group of equal images and budget. In parentheses: 95 % of bootstrap draws of candidates, each with all its trials.
    """  # noqa: E501 (the line that is printed)
    if not found:
        raise ValueError(
            f"design: got no {FEWEST} finished trials of equal images and budget that have both "
            "criteria and labelled probes; give the trials criteria=(...) and probes=(...)"
        )
    probes = list(dict.fromkeys(one.probe for one in found))
    rows = [(name, [one for one in found if one.criterion == name]) for name in _names(found)]
    heads = [f"{probe}: {what}" for probe in probes for what in ("rank correlation", "points lost")]
    lines = [f"| criterion | {' | '.join(heads)} |", "|---" * (1 + len(heads)) + "|"]
    lines += [f"| {name} | {' | '.join(map(_cells, row))} |" for name, row in rows]
    at_random = " |".join(f" | {one.at_random:.1f}" for one in rows[0][1])
    counted = " ".join(map(_counted, rows[0][1]))
    lines += [f"| drawn at random |{at_random} |", "", f"{counted} {WORDS}", ""]
    return "\n".join(lines)


def _names(found: Sequence[Agreement]) -> list[str]:
    return list(dict.fromkeys(one.criterion for one in found))


def _cells(one: Agreement) -> str:
    rho = "no order" if isnan(one.rho) else f"{one.rho:.2f} ({one.low:.2f} to {one.high:.2f})"
    return f"{rho} | {one.regret:.1f}"


def _counted(one: Agreement) -> str:
    groups = f"{one.groups} group{'s' if one.groups > 1 else ''}"
    counted = f"{one.trials} trials of {one.candidates} candidates"
    return f"{one.probe}: {counted} in {groups} of equal images and budget."
