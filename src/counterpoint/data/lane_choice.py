"""How many lanes a run has, and how many shards of each are mixed, where nobody says."""

from counterpoint.data.order import BLOCK_SHARDS

MOST = 1024  # lanes: as many ranks can share them
FEW = 64  # lanes of shards that were mixed when they were written: 16 GB of them are open
RANK = 16  # images that a rank has at least, where a batch is shared by more than that many ranks


def chosen_lanes(
    *, batch: int, shards: int, mixed: bool, most_open: int | None = None
) -> tuple[int, int]:
    """Return how many lanes there are, and how many shards of a lane make a block.

    Lanes are a power of two that divides the batch, with a shard or more for each. What is not
    mixed needs as many open shards as possible. What is mixed needs as few as serve all ranks:
    each takes room in the cache of a machine that reads from a store. Where a process can hold
    `most_open` of them, no more are open, but for a lane for each 16 images of the batch: ranks
    need one each. What does not fit is read again, then for 16 images of it at a time.

    >>> chosen_lanes(batch=65_536, shards=1_000_000, mixed=False)
    (1024, 8)
    >>> [chosen_lanes(batch=b, shards=1_000_000, mixed=True) for b in (65_536, 4096, 512)]
    [(1024, 1), (256, 1), (64, 1)]
    >>> [chosen_lanes(batch=b, shards=s, mixed=True) for b, s in ((1000, 100), (256, 1))]
    [(8, 1), (1, 1)]
    >>> heavy = {"batch": 256, "shards": 10_000, "mixed": False}  # 2,048 of them would be open
    >>> [chosen_lanes(**heavy, most_open=n) for n in (2048, 1000, 26, 1)]
    [(256, 8), (256, 3), (16, 1), (16, 1)]
    """
    most = max(FEW, batch // RANK) if mixed else MOST
    most = 1 << (min(most, MOST, max(1, shards)).bit_length() - 1)
    lanes = min(batch & -batch, most)
    block = 1 if mixed else BLOCK_SHARDS
    if most_open is None or lanes * block <= most_open:
        return lanes, block
    fewest = min(lanes, 1 << (max(1, batch // RANK).bit_length() - 1))
    while lanes > most_open and lanes > fewest:
        lanes //= 2
    return lanes, max(1, min(block, most_open // lanes))
