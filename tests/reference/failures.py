"""A job of many ranks that fail, event by event: judges the formula of goodput."""

import heapq
import random


def simulated_goodput(
    *,
    ranks: int,
    rank_hours: float,
    interval: float,
    save: float,
    restart: float,
    failures: int,
    seed: int = 0,
) -> float:
    """Live through so many failures, and return the share of the time that steps took and kept.

    Every rank has a clock of its own that says when it fails next; the job goes on from its last
    checkpoint after a restart, in which ranks can fail too. All times in seconds.
    """
    draw = random.Random(seed)
    mean = rank_hours * 3600
    clocks = [(draw.expovariate(1 / mean), rank) for rank in range(ranks)]
    heapq.heapify(clocks)
    now = kept = 0.0
    for _ in range(failures):
        fails, rank = clocks[0]
        while True:  # intervals of steps and a checkpoint, until the failure
            done = now + interval + save
            if done > fails:
                break
            now, kept = done, kept + interval
        now = max(now, fails) + restart
        # The rank that failed was replaced, and those that fail meanwhile only cost its time again.
        heapq.heapreplace(clocks, (now + draw.expovariate(1 / mean), rank))
        while clocks[0][0] < now:
            heapq.heapreplace(clocks, (now + draw.expovariate(1 / mean), clocks[0][1]))
    return kept / now
