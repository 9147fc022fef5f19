"""The manifest: which files a checkpoint has, how long they are and what they hash to."""

import json
from dataclasses import asdict, dataclass
from reprlib import repr as short

from counterpoint.framework.codec import from_text
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError
from counterpoint.training.checkpoints.rank_shares import share_name

FORMATS = (1, 2)
"""1 has all tensors in one file, 2 a file for each rank that wrote it."""

MANIFEST, PLAIN, TENSORS = "manifest.json", "state.json", "state.safetensors"


@dataclass(frozen=True, slots=True)
class Stored:
    """A file as it was written."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The step of a checkpoint, its plain state, and the files of tensors, one for each rank.

    >>> manifest = Manifest(120, Stored(2, "ab"), (Stored(8, "cd"), Stored(9, "ef")))
    >>> Manifest.read(manifest.write()) == manifest
    True
    >>> [*manifest.files]
    ['state.json', 'share-00000-of-00002.safetensors', 'share-00001-of-00002.safetensors']
    """

    step: int
    plain: Stored
    shares: tuple[Stored, ...]

    @property
    def files(self) -> dict[str, Stored]:
        """The files by name, besides the manifest, in the order in which they are written."""
        return {PLAIN: self.plain, **self.tensors}

    @property
    def tensors(self) -> dict[str, Stored]:
        """The files of tensors by name, in the order of the ranks that wrote them."""
        if len(self.shares) == 1:
            return {TENSORS: self.shares[0]}
        count = len(self.shares)
        return {share_name(rank, count): share for rank, share in enumerate(self.shares)}

    def write(self) -> bytes:
        """Write the one text that stands for this manifest."""
        files = {name: asdict(stored) for name, stored in self.files.items()}
        number = 1 if len(self.shares) == 1 else 2
        record = {"format": number, "step": self.step, "files": files}
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def read(cls, text: bytes) -> "Manifest":
        """Read a manifest; a single bit that differs from what `write` gives is refused."""
        try:
            record = from_text(text.decode())
        except ValueError as error:
            raise CheckpointError(f"{MANIFEST}: is not valid JSON ({error})") from error
        match record:
            case {"format": int(other)} if other not in FORMATS:
                raise CheckpointError(
                    f"{MANIFEST}: format {short(other)}, this version reads formats 1 and 2"
                )
            case {"step": int(step), "files": {"state.json": plain, **others}} if others:
                stored = [_stored(one) for one in (plain, *others.values())]
                found = cls(step, stored[0], tuple(stored[1:]))
                if found.write() == text:
                    return found
        raise CheckpointError(f"{MANIFEST}: is not as it was written")


def _stored(record: object) -> Stored:
    match record:
        case {"bytes": int(size), "sha256": str(digest)}:
            return Stored(size, digest)
    raise CheckpointError(f"{MANIFEST}: is not as it was written")
