"""The order in which litdata and webdataset give the samples of shards, from real files of theirs.

A sample is its number. Each rank reads with the library's own loader and workers, in a process of
its own; a global batch is what the ranks have at the same step.
"""

import io
import json
import os
import subprocess
import sys
import tarfile
from pathlib import Path
from typing import Any

WORKERS = 4  # of each rank; webdataset's examples have 4
BUFFER = 1000  # webdataset's examples: shuffle(1000), and shardshuffle=100
SHARD_BUFFER = 100


def write_tars(folder: Path, shards: int, count: int) -> None:
    """Write webdataset tars: one member a sample, its number in digits."""
    folder.mkdir(parents=True, exist_ok=True)
    for shard in range(shards):
        with tarfile.open(folder / f"{shard:06d}.tar", "w", format=tarfile.USTAR_FORMAT) as tar:
            for sample in range(shard * count, (shard + 1) * count):
                content = str(sample).encode()
                member = tarfile.TarInfo(f"{sample:09d}.txt")
                member.size = len(content)
                tar.addfile(member, io.BytesIO(content))


def write_chunks(folder: Path, shards: int, count: int) -> None:
    """Write litdata chunks, which hold the same samples as the tars."""
    from litdata.streaming.writer import BinaryWriter

    folder.mkdir(parents=True, exist_ok=True)
    writer = BinaryWriter(str(folder), chunk_size=count)
    for sample in range(shards * count):
        writer.add_item(sample, {"sample": sample})
    writer.done()
    writer.merge()
    chunks = json.loads((folder / "index.json").read_text())["chunks"]
    assert [chunk["chunk_size"] for chunk in chunks] == [count] * shards


def peer_batches(way: str, folder: Path, *, ranks: int, batch: int, steps: int) -> list[list[int]]:
    """Return the first global batches of a peer."""
    shares = []
    for rank in range(ranks):
        words = [sys.executable, "-m", "bench.shards.order_peers", way, str(folder)]
        words += [str(batch // ranks), str(steps)]
        here = os.environ | {"WORLD_SIZE": str(ranks), "GLOBAL_RANK": str(rank), "RANK": str(rank)}
        done = subprocess.run(words, env=here, stdout=subprocess.PIPE, check=True, text=True)
        shares.append(json.loads(done.stdout.splitlines()[-1]))
    return [[n for share in parts for n in share] for parts in zip(*shares, strict=False)]


def _litdata(folder: str, batch: int) -> Any:
    from litdata import StreamingDataLoader, StreamingDataset

    dataset = StreamingDataset(folder, shuffle=True, drop_last=True, seed=0)
    loader = StreamingDataLoader(dataset, batch_size=batch, num_workers=WORKERS)
    return (found["sample"].tolist() for found in loader)


def _webdataset(folder: str, batch: int) -> Any:
    import webdataset as wds

    urls = sorted(str(file) for file in Path(folder).glob("*.tar"))
    dataset = wds.WebDataset(
        urls, shardshuffle=SHARD_BUFFER, nodesplitter=wds.split_by_node, seed=0
    )
    dataset = dataset.shuffle(BUFFER).map(_number).batched(16, partial=False)
    loader = wds.WebLoader(dataset, batch_size=None, num_workers=WORKERS)
    loader = loader.unbatched().shuffle(BUFFER).batched(batch, partial=False)
    return ([int(number) for number in found[0]] for found in loader)


def _number(sample: dict[str, Any]) -> tuple[int]:
    return (int(sample["txt"]),)


if __name__ == "__main__":
    way, folder, batch, steps = sys.argv[1:]
    batches = (_litdata if way == "litdata" else _webdataset)(folder, int(batch))
    found = [some for _, some in zip(range(int(steps)), batches, strict=False)]
    sys.stdout.write("\n" + json.dumps(found) + "\n")
    sys.stdout.flush()
    os._exit(0)  # workers that wait are not asked to end
