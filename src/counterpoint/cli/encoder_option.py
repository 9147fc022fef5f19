"""The options --encoder and --weights of commands that otherwise take a run."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from counterpoint.framework.pixels import Pixels


def refuse_no_encoder(
    command: str, run: object, encoder: str | None, weights: str | None = None
) -> None:
    """Refuse a command without anything that embeds; weights may name their encoder."""
    if not run and encoder is None and weights is None:
        raise ValueError(
            f"{command} needs the folder of a run, or --encoder and --weights; "
            f"counterpoint {command} --help shows an example"
        )


def encoder_words(encoder: str | None, weights: str | None) -> str:
    """Name an encoder without a run.

    >>> encoder_words("timm/resnet18", None)
    'timm/resnet18 with random weights'
    >>> encoder_words(None, "exported")
    'the weights exported'
    """
    said = "random weights" if weights is None else f"the weights {weights}"
    return said if encoder is None else f"{encoder} with {said}"


def given_pixels(mean: str | None, std: str | None, weights: str | None) -> "Pixels | None":
    """Read how some weights want to see pixels, where that is given by hand.

    >>> print(given_pixels("0.5", "0.25,0.25,0.25", "some.safetensors"))
    (x - 0.5) / 0.25
    """
    if mean is None and std is None:
        return None
    if mean is None or std is None or weights is None:
        raise ValueError("--mean and --std are given together, and with --weights")
    from counterpoint.framework.pixels import Pixels

    return Pixels(_channels("mean", mean), _channels("std", std))


def _channels(name: str, text: str) -> tuple[float, ...]:
    """Read a figure for each of three channels, or one for all."""
    try:
        found = tuple(float(word) for word in text.split(","))
    except ValueError:
        found = ()
    found = found * 3 if len(found) == 1 else found
    lowest = 0.0 if name == "mean" else 1e-6
    if len(found) != 3 or not all(lowest <= value <= 1 for value in found):
        raise ValueError(
            f"--{name} is {text!r}; needs a figure from 0 to 1 for each channel, such as "
            "0.485,0.456,0.406, or one for all"
        )
    return found
