"""Whether the criteria of a search can choose at all on its images."""

from statistics import fmean

from counterpoint.design.judging import lost
from counterpoint.design.searched import Searched

ROTATION = ("rotation-folds", "rotation")
CHANCE = 0.25  # one of four turns
NEAR_CHANCE = 0.27
"""The mean of some dozens of probes that guess stays below it: each is asked 500 times or more, and
has a standard error of 0.02 at most. On CIFAR-10 it is 0.30 after a ninth of an epoch, and 0.35
after one."""


def rotation_doubt(found: Searched) -> str | None:
    """Say that the images seem to have no way up, where candidates do not find it.

    A search that chooses by the rotation probe then chooses by chance.

    >>> from counterpoint.design.design_settings import DesignSettings
    >>> rotation_doubt(Searched(DesignSettings(data="cells", full=1e12)))  # nothing was run yet
    """
    settings = found.settings
    chosen = [name for name in ROTATION if name in settings.criteria]
    if settings.labels is not None or not chosen:
        return None
    living = [one.figures for one in found.outcomes.values() if not lost(one.figures)]
    told = [figures[name] for figures in living for name in chosen if name in figures]
    if not told or fmean(told) >= NEAR_CHANCE:
        return None
    return (
        f"candidates hardly tell which way up an image is ({fmean(told):.2f} on average, by chance "
        f"{CHANCE}), so the rotation probe chooses by chance: search with --criteria rankme,lidar, "
        "in a new --out"
    )
