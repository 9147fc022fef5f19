"""How an encoder is opened: by another process, on another machine, or another day."""

from dataclasses import dataclass
from pathlib import Path

from counterpoint.address import is_address, whole_address
from counterpoint.catalogue import PRETRAINED
from counterpoint.encoder_choice import open_encoder
from counterpoint.parts.own import own_parts
from counterpoint.run import Run


@dataclass(frozen=True, slots=True)
class EncoderAddress:
    """A run, or the name of an encoder and its weights; paths are absolute."""

    run: str | None = None
    encoder: str | None = None
    weights: str | None = None
    size: int | None = None
    parts: str | None = None
    """A Python file with the user's own parts, which is executed."""

    @classmethod
    def of(
        cls,
        run: str | Path | None = None,
        *,
        encoder: str | None = None,
        weights: str | None = None,
        size: int | None = None,
        parts: str | None = None,
    ) -> "EncoderAddress":
        """Make paths absolute.

        >>> print(EncoderAddress.of(encoder="timm/resnet18", weights="/weights/r18.safetensors"))
        timm/resnet18 with /weights/r18.safetensors
        >>> print(EncoderAddress.of(encoder="timm/resnet18", weights="pretrained"))
        timm/resnet18 with pretrained
        """
        file = weights if weights == PRETRAINED else _absolute(weights)
        return cls(_absolute(run), encoder, file, size, _absolute(parts))

    def __str__(self) -> str:
        if self.run is not None:
            return self.run
        if self.encoder is None:
            return "memory"
        return f"{self.encoder} with {self.weights or 'random weights'}"

    def open(self) -> Run:
        """Open the encoder; an error says which file is not there any more."""
        if self.run is None and self.encoder is None:
            raise ValueError(
                "vectors: their encoder was in memory and is in no file; needs the folder of its "
                "run (--run)"
            )
        return open_encoder(
            self.run,
            encoder=self.encoder,
            weights=self.weights,
            size=self.size,
            parts=own_parts(self.parts),
        )


def _absolute(place: str | Path | None) -> str | None:
    if place is None or is_address(place):
        return None if place is None else whole_address(place)
    return str(Path(place).resolve())
