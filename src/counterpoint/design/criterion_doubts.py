"""Whether the criteria of a search can choose at all on its images."""

from counterpoint.design.search_files import Searched

CHANCE = 0.25  # one of four turns
NEAR_CHANCE = 0.3
"""The best of some dozens of probes that guess stays below it: each is asked 500 times, and has a
standard error of 0.02. On CIFAR-10 the best after a ninth of an epoch has 0.35."""


def rotation_doubt(found: Searched) -> str | None:
    """Say that the images seem to have no way up, where no candidate finds it.

    A search that chooses by the rotation probe then chooses by chance.

    >>> from counterpoint.design.design_settings import DesignSettings
    >>> rotation_doubt(Searched(DesignSettings(data="cells", full=1e12)))  # nothing was run yet
    """
    settings = found.settings
    if settings.labels is not None or "rotation" not in settings.criteria:
        return None
    figures = [outcome.figures.get("rotation", 0.0) for outcome in found.outcomes.values()]
    best = max(figures, default=1.0)
    if best >= NEAR_CHANCE:
        return None
    return (
        f"no candidate tells which way up an image is (the best {best:.2f}, by chance {CHANCE}), "
        "so the rotation probe chooses by chance: search with --criteria rankme,lidar, in a new "
        "--out"
    )
