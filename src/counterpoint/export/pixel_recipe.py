"""How the pixels of a picture become the input of an exported network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from counterpoint.framework.contracts import BuiltViews
from counterpoint.parts.views.colour import Normalise
from counterpoint.parts.views.geometry import CentreCrop, Resize
from counterpoint.parts.views.stage import InPlace, Reshaping
from counterpoint.parts.views.window import Interpolation

PICTURES = {1: "L", 3: "RGB"}
"""The modes of Pillow by the number of channels."""
UPRIGHT = """\
def upright(picture):
    picture = ImageOps.exif_transpose(picture)
    if picture.mode.startswith("I"):  # 16 bits
        levels = np.asarray(picture).astype(np.uint32) >> 8
        picture = Image.fromarray(levels.clip(0, 255).astype(np.uint8))
    if picture.mode != "RGB" and picture.has_transparency_data:  # on white
        clear = picture.convert("RGBA")
        picture = Image.alpha_composite(Image.new("RGBA", clear.size, "white"), clear)
    return picture.convert("{mode}")
"""
"""How a picture is read before anything is cut out of it: as `data.strips` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PixelRecipe:
    """An evaluation view in plain words: resize, cut the centre, normalise."""

    channels: int
    short: int
    """What the short side of a picture is resized to."""
    side: int
    """Of the central square that is cut out."""
    interpolation: Interpolation
    mean: tuple[float, ...]
    std: tuple[float, ...]
    after: tuple[Reshaping, ...] = ()
    """What comes after the normalisation, such as patches; it is part of the network."""

    @property
    def mode(self) -> str:
        """The mode of Pillow that pictures are converted to."""
        return PICTURES[self.channels]


def pixel_recipe(views: BuiltViews, channels: int) -> PixelRecipe | str:
    """Read the recipe off an evaluation view, or say why it cannot be told in plain words."""
    if channels not in PICTURES:
        return f"images have {channels} channels, which no picture has"
    stages: Sequence[Any] = getattr(views.evaluation, "stages", ())
    if len(stages) < 2 or not (isinstance(stages[0], Resize) and isinstance(stages[1], CentreCrop)):
        return "the evaluation view is not a resize and a central crop"
    resize, centre, *rest = stages
    normalise = Normalise((0.0,) * channels, (1.0,) * channels)
    if rest and isinstance(rest[0], Normalise):
        normalise, *rest = rest
    for stage in rest:
        if isinstance(stage, InPlace) or not isinstance(stage, Reshaping):
            return f"the evaluation view has a stage of its own: {stage}"
    return PixelRecipe(
        channels=channels,
        short=resize.short,
        side=centre.size,
        interpolation=resize.interpolation,
        mean=normalise.mean,
        std=normalise.std,
        after=tuple(rest),
    )


def pixel_lines(recipe: PixelRecipe, *, bytes_in: bool = False) -> str:
    """Write the recipe as a function with NumPy and Pillow alone.

    `bytes_in` leaves the normalisation to the network.
    """
    side, channel = recipe.side, "" if recipe.channels == 3 else "[..., None]"
    cut = f"""\
{UPRIGHT.format(mode=recipe.mode)}

def pixels(picture):
    picture = upright(picture)
    short = min(picture.size)
    size = [int({recipe.short} * length / short) for length in picture.size]
    picture = picture.resize(size, Image.Resampling.{recipe.interpolation.upper()})
    left, top = (round((length - {side}) / 2) for length in picture.size)
    picture = picture.crop((left, top, left + {side}, top + {side}))
"""
    if bytes_in:
        return cut + f"    return np.asarray(picture){channel}.transpose(2, 0, 1)\n"
    return (
        f"MEAN = np.array({list(recipe.mean)}, dtype=np.float32)\n"
        f"STD = np.array({list(recipe.std)}, dtype=np.float32)\n\n\n"
        f"{cut}    levels = np.asarray(picture, dtype=np.float32){channel} / 255\n"
        "    return ((levels - MEAN) / STD).transpose(2, 0, 1)\n"
    )
