"""What every similarity without a map between widths asks for."""

from counterpoint.framework import PartError


def refuse_other_width(anchor: int, candidate: int) -> None:
    """Raise where anchors and candidates differ in width.

    >>> refuse_other_width(64, 64)
    """
    if anchor != candidate:
        raise PartError(
            "similarity",
            got=f"anchors of width {anchor} and candidates of width {candidate}",
            needs="one width for both",
            do="use Bilinear(), or bring them together in the extraction",
        )
