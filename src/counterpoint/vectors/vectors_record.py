"""vectors.json: which encoder made the vectors of a folder, and of which images."""

import hashlib
import json
import shlex
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from torch import nn

from counterpoint.data import fingerprint_difference
from counterpoint.run import Run
from counterpoint.vectors.encoder_address import EncoderAddress
from counterpoint.vectors.numbered_splits import NumberedSplits
from counterpoint.whole_file import UNFINISHED, write_json

FILE = "vectors.json"
LOCK = ".embed.lock"
FORMAT = 1


@dataclass(frozen=True, slots=True)
class VectorsRecord:
    """All that a folder of vectors says of itself."""

    encoder: dict[str, Any]
    """`name`, `address`, `method` (fingerprint), `weights` (sha256), `map`, `image`."""
    data: dict[str, Any]
    """`path`, `limit`, and for each split its description and fingerprint."""
    width: int
    count: int
    splits: dict[str, int]
    part_size: int
    classes: list[str] | None = None
    format: int = field(default=FORMAT, kw_only=True)

    @property
    def parts(self) -> int:
        """How many parts there are when all is done."""
        return -(-self.count // self.part_size)

    def write(self, folder: Path) -> None:
        """Write vectors.json at once."""
        write_json(folder / FILE, asdict(self))

    @classmethod
    def read(cls, folder: Path) -> "VectorsRecord":
        """Read vectors.json; refuse folders that are not of vectors, and newer formats."""
        try:
            found = json.loads((folder / FILE).read_text())
        except FileNotFoundError:
            raise FileNotFoundError(
                f"vectors: {folder} has no {FILE}; counterpoint embed RUN DATA --out "
                f"{shlex.quote(str(folder))} writes one"
            ) from None
        except ValueError as error:
            raise ValueError(f"vectors: {folder / FILE} cannot be read: {error}") from error
        if found.get("format") != FORMAT:
            raise ValueError(
                f"vectors: {folder / FILE} has format {found.get('format')}, this version reads "
                f"{FORMAT}; embed the images again, into another folder"
            )
        return cls(**found)

    @property
    def address(self) -> EncoderAddress:
        """How the encoder is opened again."""
        return EncoderAddress(**self.encoder["address"])

    def found_at(self, new: "VectorsRecord") -> "VectorsRecord":
        """Return this record with where the same images and the same encoder are found now."""
        both = None not in (self.data["path"], new.data["path"])
        data = self.data | ({"path": new.data["path"]} if both else {})
        address = (
            self.encoder["address"] if new.address == EncoderAddress() else asdict(new.address)
        )
        return replace(self, data=data, encoder=self.encoder | {"address": address})

    def is_in(self, folder: Path) -> bool:
        """Tell whether a folder says that this is in it; refuse one with other vectors."""
        there = record_in(folder)
        if there is None:
            return False
        there.refuse_other(self, folder)
        return there.found_at(self) == there

    def refuse_other(self, new: "VectorsRecord", folder: Path) -> None:
        """Refuse to add the vectors of another encoder, or of other images, to a folder."""
        do = f"give --out a folder other than {folder}"
        old, now = self.encoder, new.encoder
        for key, what in (
            ("method", "another method"),
            ("image", "images of another size"),
            ("map", "another feature map"),
            ("weights", "other weights"),
        ):
            if old[key] != now[key]:
                raise ValueError(
                    f"out: {folder} holds vectors of {_origin(old)}, by {what} than "
                    f"{_origin(now)}; {do}"
                )
        if self.splits.keys() != new.splits.keys():
            raise ValueError(f"out: {folder} holds vectors of other splits; {do}")
        for split in self.splits:
            was, is_now = (record.data["splits"][split] for record in (self, new))
            if why := fingerprint_difference(was["fingerprint"], is_now["fingerprint"]):
                raise ValueError(
                    f"out: {folder} holds vectors of {was['describe']['name']} in "
                    f"{self.data['path']}, and now {is_now['describe']['name']} in "
                    f"{new.data['path']} differs: {why}; {do}"
                )
        if self.part_size != new.part_size:
            raise ValueError(
                f"out: {folder} has parts of {self.part_size:,} images, not {new.part_size:,}; "
                f"leave --part-size out, or {do}"
            )


def record_in(folder: Path) -> VectorsRecord | None:
    """Return the record of a folder, None if there is none yet; refuse one with other files."""
    names = {file.name for file in folder.iterdir()} if folder.exists() else set()
    if FILE in names:
        return VectorsRecord.read(folder)
    if any(name != LOCK and UNFINISHED not in name for name in names):
        raise ValueError(
            f"out: {folder} is not empty and has no {FILE}; needs a new or an empty folder"
        )
    return None


def encoder_record(
    run: Run,
    address: EncoderAddress,
    *,
    map: int | None,  # noqa: A002 (the paper's word)
) -> dict[str, Any]:
    """Say which encoder a run has; the weights are known by their content, not by their file."""
    return {
        "name": str(run.method.encoder),
        "address": asdict(address),
        "method": run.method.fingerprint,
        "weights": weights_sha256(run.encoder),
        "map": map,
        "image": list(run.image),
    }


def data_record(numbers: NumberedSplits, *, path: str | None, limit: int | None) -> dict[str, Any]:
    """Say which images these are."""
    splits = {
        name: {"describe": source.describe(), "fingerprint": source.fingerprint()}
        for name, source in zip(numbers.names, numbers.sources, strict=True)
    }
    return {"path": path, "limit": limit, "splits": splits}


def weights_sha256(encoder: nn.Module) -> str:
    """Digest the names, types, shapes and values of a module's weights.

    >>> weights_sha256(nn.Identity())[:8]
    'e3b0c442'
    """
    digest = hashlib.sha256()
    for name, tensor in encoder.state_dict().items():
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _origin(encoder: dict[str, Any]) -> str:
    return f"{encoder['name']} in {EncoderAddress(**encoder['address'])}"
