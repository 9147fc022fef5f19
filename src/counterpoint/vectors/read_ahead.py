"""Pieces of work, read by processes that are ahead of whoever encodes them."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from torch.utils.data import DataLoader, Dataset

from counterpoint.progress import tracked

Piece = TypeVar("Piece")
Read = TypeVar("Read")


def read_pieces(
    reader: Dataset[Read], pieces: Sequence[Piece], workers: int, what: str
) -> Iterator[Read]:
    """Read pieces in their order, and say how far that is; without workers, by a thread."""
    takes: Any = reader  # a piece is its index, which Dataset does not know
    found: Iterator[Read] = _one_ahead(takes, pieces)
    if workers and len(pieces) > 1:
        found = iter(
            DataLoader(
                takes, sampler=pieces, batch_size=None, num_workers=workers, collate_fn=_as_it_is
            )
        )
    for _ in tracked(pieces, what):
        yield next(found)


def _one_ahead(takes: Any, pieces: Sequence[Piece]) -> Iterator[Read]:
    """Read the next piece while this one is encoded: neither holds up Python for long."""
    with ThreadPoolExecutor(max_workers=1) as reader:
        waiting: Future[Read] | None = None
        for piece in pieces:
            coming = reader.submit(takes.__getitem__, piece)
            if waiting is not None:
                yield waiting.result()
            waiting = coming
        if waiting is not None:
            yield waiting.result()


def _as_it_is(read: Any) -> Any:
    """Keep DataLoader from turning tuples into lists."""
    return read
