"""The order in lanes, sample by sample in plain loops: lists in the place of arithmetic."""

import torch

from counterpoint.framework.permutation import SHARDS, Permutation
from counterpoint.framework.philox import LOW, philox

ROUNDS = 8
MULTIPLIER = 0x1E35A7BD97F4A7C5


def signed(number):
    """Wrap an integer around as int64 does."""
    return (number + 2**63) % 2**64 - 2**63


def keyed_shuffle(count, *, seed, epoch, lane, block):
    """Permute range(count) under the key of a block, one place after the other."""
    keys = []
    for number in range(ROUNDS):
        counter = (number + ROUNDS * block, lane, epoch & LOW, LOW - 1)
        words = philox(tuple(torch.tensor(w) for w in counter), (seed & LOW, (seed >> 32) & LOW))
        keys.append(signed(int(words[0]) << 31) ^ int(words[1]) | 1)
    bits = max(2, (count - 1).bit_length())
    found = []
    for place in range(count):
        while True:
            low = bits // 2
            left, right = place >> low, place % 2**low
            for number, key in enumerate(keys):
                width = bits - low if number % 2 == 0 else low
                mixed = signed((right ^ (key >> 20)) * key)
                mixed = signed((mixed ^ (mixed >> 29)) * MULTIPLIER)
                left, right = right, (left + (mixed >> (62 - width))) % 2**width
            place = left * 2**low + right
            if place < count:
                break
        found.append(place)
    return found


def lanes_of(counts, *, lanes, block_shards, seed, epoch):
    """Return the samples of each lane in their order, and those that no lane has."""
    starts = [sum(counts[:shard]) for shard in range(len(counts))]
    line = Permutation(len(counts), seed, epoch, SHARDS)(torch.arange(len(counts))).tolist()
    samples = [(shard, starts[shard] + row) for shard in line for row in range(counts[shard])]
    length = len(samples) // lanes
    found = []
    for lane in range(lanes):
        own = samples[lane * length : (lane + 1) * length]
        first = line.index(own[0][0])
        blocks = {}
        for shard, sample in own:
            blocks.setdefault((line.index(shard) - first) // block_shards, []).append(sample)
        order = []
        for block, inside in sorted(blocks.items()):
            inside.sort()  # samples are numbered shard after shard
            mixed = keyed_shuffle(len(inside), seed=seed, epoch=epoch, lane=lane, block=block)
            order += [inside[place] for place in mixed]
        found.append(order)
    return found, [sample for _, sample in samples[lanes * length :]]


def batches_of(counts, *, batch, lanes, block_shards, seed, epoch):
    """Return the global batches of an epoch."""
    each = batch // lanes
    found, _ = lanes_of(counts, lanes=lanes, block_shards=block_shards, seed=seed, epoch=epoch)
    steps = sum(counts) // batch
    return [
        [sample for lane in found for sample in lane[step * each : (step + 1) * each]]
        for step in range(steps)
    ]
