"""The manifest: which files a checkpoint has, how long they are and what they hash to."""

import json
from dataclasses import asdict, dataclass
from reprlib import repr as short

from counterpoint.framework.codec import from_text
from counterpoint.training.checkpoints.checkpoint_errors import CheckpointError

FORMAT = 1

MANIFEST, PLAIN, TENSORS = "manifest.json", "state.json", "state.safetensors"


@dataclass(frozen=True, slots=True)
class Stored:
    """A file as it was written."""

    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Manifest:
    """The step of a checkpoint and its two files.

    >>> manifest = Manifest(120, Stored(2, "ab"), Stored(8, "cd"))
    >>> Manifest.read(manifest.write()) == manifest
    True
    """

    step: int
    plain: Stored
    tensors: Stored

    def write(self) -> bytes:
        """Write the one text that stands for this manifest."""
        files = {PLAIN: asdict(self.plain), TENSORS: asdict(self.tensors)}
        record = {"format": FORMAT, "step": self.step, "files": files}
        return json.dumps(record, separators=(",", ":")).encode() + b"\n"

    @classmethod
    def read(cls, text: bytes) -> "Manifest":
        """Read a manifest; a single bit that differs from what `write` gives is refused."""
        try:
            record = from_text(text.decode())
        except ValueError as error:
            raise CheckpointError(f"{MANIFEST}: is not valid JSON ({error})") from error
        match record:
            case {
                "format": 1,
                "step": int(step),
                "files": {
                    "state.json": {"bytes": int(plain), "sha256": str(plain_hash)},
                    "state.safetensors": {"bytes": int(tensors), "sha256": str(tensors_hash)},
                },
            }:
                found = cls(step, Stored(plain, plain_hash), Stored(tensors, tensors_hash))
                if found.write() == text:
                    return found
            case {"format": int(other)} if other != FORMAT:
                raise CheckpointError(
                    f"{MANIFEST}: format {short(other)}, this version reads format {FORMAT}"
                )
        raise CheckpointError(f"{MANIFEST}: is not as it was written")
