"""How the weights of a network want to see pixels."""

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Pixels:
    """The mean and deviation that pixels from 0 to 1 are normalised by, and the usual view.

    >>> print(Pixels((0.5, 0.5, 0.5), (0.25, 0.25, 0.25)))
    (x - 0.5) / 0.25
    """

    mean: tuple[float, ...]
    std: tuple[float, ...]
    size: int | None = None
    """The side that the weights were trained at."""
    interpolation: Literal["bilinear", "bicubic"] | None = None
    share: float | None = None
    """The share of the short side that the centre crop keeps."""
    origin: str = "given"
    """Who says so."""

    def to_dict(self) -> dict[str, Any]:
        """Return what a record holds."""
        return {"mean": list(self.mean), "std": list(self.std), "origin": self.origin}

    def __str__(self) -> str:
        return f"(x - {figures(self.mean)}) / {figures(self.std)}"


def figures(values: tuple[float, ...]) -> str:
    """Write one figure for all channels where they are equal, else all.

    >>> figures((0.5, 0.5, 0.5)), figures((0.485, 0.456, 0.406))
    ('0.5', '[0.485 0.456 0.406]')
    """
    words = [f"{value:.4g}" for value in values]
    return words[0] if len(set(words)) == 1 else f"[{' '.join(words)}]"
