"""How many lanes a run has, where nobody says."""

MOST = 1024  # lanes: as many ranks can share them


def chosen_lanes(*, batch: int, shards: int) -> int:
    """Return the largest power of two that divides the batch, with a shard or more for each lane.

    >>> chosen_lanes(batch=65_536, shards=1_000_000), chosen_lanes(batch=256, shards=100)
    (1024, 64)
    >>> chosen_lanes(batch=1000, shards=100), chosen_lanes(batch=256, shards=1)
    (8, 1)
    """
    return min(batch & -batch, MOST, 1 << (max(1, shards).bit_length() - 1))
