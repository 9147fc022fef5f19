"""Embed a data set part by part: what is finished is never done again."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from counterpoint.data import Splits, as_splits, open_data
from counterpoint.data.location import data_place, local
from counterpoint.data.source import Cut
from counterpoint.data.workers import loader_workers
from counterpoint.evaluation import Representation
from counterpoint.evaluation.placing import on_device
from counterpoint.folder_lock import only_process
from counterpoint.run import Run
from counterpoint.vectors.copy_vectors import FILE as COPIES
from counterpoint.vectors.copy_vectors import CopyMaker, copy_pieces, write_copies
from counterpoint.vectors.encoder_address import EncoderAddress
from counterpoint.vectors.numbered_splits import NumberedSplits, usual_part_size
from counterpoint.vectors.part_file import finished_parts, part_path, write_part
from counterpoint.vectors.read_ahead import read_pieces
from counterpoint.vectors.stored_rows import ReadPiece, RowReader, StoredRow
from counterpoint.vectors.vectors_folder import Vectors
from counterpoint.vectors.vectors_record import (
    FILE,
    LOCK,
    VectorsRecord,
    data_record,
    encoder_record,
    record_in,
)
from counterpoint.whole_file import sweep_unfinished

COPIED = 1_000  # images of which copies are embedded for `curate`; our choice


def embed_data(
    run: Run,
    data: str | Path | Splits,
    out: str | Path,
    *,
    limit: int | None = None,
    map: int | None = None,  # noqa: A002 (the paper's word)
    part_size: int | None = None,
    device: str | torch.device | None = None,
    workers: int | None = None,
    copies: int = COPIED,
) -> Vectors:
    """Embed all images of a data set into a folder; give the same call again to continue.

    `limit` takes the first images of each split. `map` is the feature map, None the last before a
    head. `device` is an accelerator if there is one; `workers` read files, one per core. Copies
    of `copies` images are embedded too, by which `curate` knows how near duplicates are.

    >>> from tempfile import TemporaryDirectory
    >>> from counterpoint import open_encoder
    >>> from counterpoint.data import as_splits
    >>> images = as_splits(torch.zeros(6, 3, 16, 16, dtype=torch.uint8))
    >>> with TemporaryDirectory() as folder:
    ...     run = open_encoder(encoder="small", size=16)
    ...     embed_data(run, images, folder, copies=0, workers=0).matrix().shape
    torch.Size([6, 256])
    """
    job = EmbedJob.begin(run, data, out, limit=limit, map=map, part_size=part_size)
    with job.alone(copies):
        with job.ready(device):
            job.do(job.left(), workers=workers)
            job.do_copies(copies, workers=workers)
        return job.finish()


@dataclass(frozen=True, slots=True, eq=False)
class EmbedJob:
    """What is to be embedded, by what, and where it goes."""

    representation: Representation
    numbers: NumberedSplits
    record: VectorsRecord
    folder: Path

    @classmethod
    def begin(
        cls,
        run: Run,
        data: str | Path | Splits,
        out: str | Path,
        *,
        limit: int | None = None,
        address: EncoderAddress | None = None,
        map: int | None = None,  # noqa: A002 (the paper's word)
        part_size: int | None = None,
    ) -> "EmbedJob":
        """Open the images, and the folder or a new one; refuse one with other vectors.

        `address` is how the encoder is opened again, where that is not the folder of the run.
        """
        folder = local(out, what="out")
        splits, path = _opened(data, limit)
        numbers = NumberedSplits.of(splits)
        representation = Representation(run.model, map)
        there = record_in(folder)
        record = VectorsRecord(
            encoder_record(run, address or EncoderAddress.of(run.folder), map=map),
            data_record(numbers, path=path, limit=limit),
            width=_width(representation, run.image),
            count=len(numbers),
            splits=numbers.counts,
            part_size=part_size or (there.part_size if there else usual_part_size(len(numbers))),
            classes=None if numbers.classes is None else list(numbers.classes),
        )
        if there is not None:
            there.refuse_other(record, folder)
        return cls(representation, numbers, record, folder)

    @classmethod
    def resume(cls, out: str | Path) -> "EmbedJob":
        """Open a job by its folder; encoder and images have to be what they were."""
        record = VectorsRecord.read(Path(out))
        return cls.begin(
            record.address.open(),
            record.data["path"],
            out,
            limit=record.data["limit"],
            address=record.address,
            map=record.encoder["map"],
        )

    def left(self) -> list[int]:
        """List the parts that are not there yet."""
        done = finished_parts(self.folder)
        return [part for part in range(self.record.parts) if part not in done]

    @contextmanager
    def alone(self, copies: int = COPIED) -> Iterator[None]:
        """Be the only process that writes to the folder, if there is anything to write.

        The record is written first, and what killed processes left half written is removed.
        """
        copied = copies == 0 or (self.folder / COPIES).exists()
        if self.record.is_in(self.folder) and copied and not self.left():
            yield
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        with only_process(self.folder, LOCK):
            try:
                if not self.record.is_in(self.folder):  # it may be since it was asked above
                    there = record_in(self.folder) or self.record
                    there.found_at(self.record).write(self.folder)
                for names in ("*.parquet", f"*{FILE}"):
                    sweep_unfinished(self.folder, names)
                yield
            finally:
                sweep_unfinished(self.folder, "*.parquet")  # of workers on other machines
                (self.folder / LOCK).unlink(missing_ok=True)

    @contextmanager
    def ready(self, device: str | torch.device | None = None) -> Iterator[None]:
        """Bring the encoder to a device for a while, as it is used after training."""
        encoder = self.representation.encoder
        training = encoder.training
        encoder.eval()
        try:
            with on_device(encoder, device), torch.inference_mode():
                yield
        finally:
            encoder.train(training)

    def do(self, parts: Sequence[int], *, workers: int | None = None) -> None:
        """Make some parts, one after the other; the workers read ahead over all of them."""
        pieces = [p for n in parts for p in self.numbers.pieces(n, size=self.record.part_size)]
        reader = RowReader(self.numbers, self._cut, self.record.data["path"] or "")
        read = read_pieces(reader, pieces, self._many(workers), "embedding")
        for part, found in groupby(read, key=lambda one: one.piece.part):
            self._write(part, found)

    def do_copies(self, count: int, *, workers: int | None = None) -> None:
        """Embed copies of some images, if that was not done before."""
        path = self.folder / COPIES
        if path.exists() or count == 0:
            return
        maker, pieces = CopyMaker(self.numbers, self._cut), copy_pieces(self.numbers, count)
        samples: list[int] = []
        copies: list[int] = []
        vectors: list[Float[Tensor, "sample _"]] = [torch.zeros(0, self.record.width)]
        for made in read_pieces(maker, pieces, self._many(workers), "embedding copies"):
            samples += made.samples
            copies += made.copies
            if made.samples:
                vectors.append(self.representation.of_batch(made.batch).cpu())
        write_copies(path, samples, copies, torch.cat(vectors))

    @property
    def _cut(self) -> Cut:
        return self.representation.model.views.evaluation.cut

    def _many(self, workers: int | None) -> int:
        return max(loader_workers(source, workers) for source in self.numbers.sources)

    def _write(self, part: int, found: Iterator[ReadPiece]) -> None:
        """Encode the pieces of a part as they are read, and write it."""
        samples: list[Int64[Tensor, " sample"]] = []
        splits: list[str] = []
        rows: list[StoredRow] = []
        vectors: list[Float[Tensor, "sample _"]] = [torch.zeros(0, self.record.width)]
        for piece, stored, batch in found:
            start = self.numbers.start(piece.split)
            samples.append(torch.arange(start + piece.first, start + piece.end))
            splits += [self.numbers.names[piece.split]] * len(stored)
            rows += stored
            if len(batch.index):
                vectors.append(self.representation.of_batch(batch).cpu())
        write_part(
            part_path(self.folder, part), torch.cat(samples), splits, rows, torch.cat(vectors)
        )

    def finish(self) -> Vectors:
        """Open the folder, which is whole now."""
        return Vectors.open(self.folder)


def _opened(data: str | Path | Splits, limit: int | None) -> tuple[Splits, str | None]:
    """Open the images; where they are files, say also where."""
    if isinstance(data, str | Path):
        place = data_place(data)
        where = place if isinstance(place, str) else str(place.resolve())
        return open_data(where, limit=limit), where
    splits = as_splits(data)
    return (splits if limit is None else splits.head(limit)), None


def _width(representation: Representation, image: tuple[int, ...]) -> int:
    """Return the length of a vector."""
    encoder = representation.encoder
    training = encoder.training
    encoder.eval()
    try:
        with torch.inference_mode():
            return representation.vectors(torch.zeros(1, *image, dtype=torch.uint8)).shape[1]
    finally:
        encoder.train(training)
