"""A contact sheet: real images, the views drawn of them, and what was done, in words."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from PIL import Image, ImageDraw, ImageFont
from torch import Tensor

from counterpoint.framework import Draw, PartError
from counterpoint.framework.contracts import Views as AnyViews
from counterpoint.framework.records import View
from counterpoint.parts.views.pipeline import BuiltPipeline, Pipeline
from counterpoint.parts.views.several import (
    BuiltChannelSplit,
    BuiltMultiView,
    ChannelSplit,
    MultiView,
)
from counterpoint.report.visible import visible

Views = Pipeline | MultiView | ChannelSplit
Built = BuiltPipeline | BuiltMultiView | BuiltChannelSplit

Font = ImageFont.ImageFont | ImageFont.FreeTypeFont

CELL, MARGIN, LINE = 160, 14, 15
PAPER, INK, FAINT = (255, 255, 255), (28, 32, 38), (112, 118, 128)
COLOURS = [
    (214, 69, 65),
    (37, 99, 201),
    (26, 138, 92),
    (196, 124, 0),
    (126, 74, 178),
    (0, 138, 150),
]
LEGEND = "b brightness   c contrast   s saturation   h hue, in the order applied"


@dataclass(frozen=True, slots=True, eq=False)
class Shot:
    """One view of one image, ready to be printed."""

    picture: Image.Image
    words: str
    box: tuple[int, int, int, int] | None
    """Left, top, right and bottom of the crop in the image; None shows all of it."""
    colour: tuple[int, int, int]


def contact_sheet(
    views: AnyViews, images: Sequence[Tensor], *, title: str, seed: int = 0, epochs: int = 2
) -> Image.Image:
    """Print a row for every image: the image with the crops marked, then its views.

    Images are bytes (channel, height, width), each of any size that the views take.

    >>> from counterpoint import simclr_small
    >>> images = [torch.zeros(3, 32, 32, dtype=torch.uint8)] * 2
    >>> contact_sheet(simclr_small().views, images, title="black").size
    (884, 537)
    """
    if not isinstance(views, Views):
        raise PartError("views", got=type(views).__name__, needs="a pipeline to show its views")
    rows = []
    for number, image in enumerate(images):
        draws = [Draw(seed, epoch, torch.tensor([number])) for epoch in range(epochs)]
        rows.append((image, _shots(views, image, draws)))
    heading = _wrapped(str(views).split(), " ", CELL * (1 + len(rows[0][1])), _font(12))
    return _printed(title, heading, rows, captions=_captions(views, epochs))


def _shots(views: Views, image: Tensor, draws: Sequence[Draw]) -> list[Shot]:
    shape = tuple(image.shape)
    built = views.build(shape)
    shots: list[Shot] = []
    for draw in draws:
        drawn, said = built(image[None], draw), built.words(draw, shape)
        seen = zip(drawn, said, _boxes(built, image, draw), strict=True)
        for place, (view, words, box) in enumerate(seen):
            colour = COLOURS[len(shots) % len(COLOURS)]
            shots.append(Shot(_picture(built, view, place), words[0], box, colour))
    return shots


def _picture(built: Built, view: View, place: int) -> Image.Image:
    if isinstance(built, BuiltChannelSplit):
        first = sum(built.channels[: place % len(built.channels)])
        return visible(view[0], built.pipeline.stages, first)
    if isinstance(built, BuiltMultiView):
        owners = [one for one in built.pipelines for _ in one.places]
        return visible(view[0], owners[place].stages)
    return visible(view[0], built.stages)


def _boxes(built: Built, image: Tensor, draw: Draw) -> list[tuple[int, int, int, int] | None]:
    """Find where each view lies in the image."""
    if isinstance(built, BuiltMultiView):
        return [box for one in built.pipelines for box in _boxes(one, image, draw)]
    if isinstance(built, BuiltChannelSplit):
        return [box for box in _boxes(built.pipeline, image, draw) for _ in built.channels]
    height, width = image.shape[-2:]
    chains = built.chains(torch.tensor([height]), torch.tensor([width]), draw)
    found: list[tuple[int, int, int, int] | None] = []
    for window in (chain[0] for chain in chains):
        left, top = int(window.left), int(window.top)
        box = (left, top, left + int(window.width), top + int(window.height))
        inside = left >= 0 and top >= 0 and box[2] <= width and box[3] <= height
        found.append(box if inside and box != (0, 0, width, height) else None)
    return found


def _captions(views: Views, epochs: int) -> list[str]:
    """Name the columns; with several epochs, which one."""
    names = _names(views)
    if epochs == 1:
        return names
    return [f"epoch {epoch}, {name}" for epoch in range(epochs) for name in names]


def _names(views: Views) -> list[str]:
    if isinstance(views, ChannelSplit):
        return ["lightness", "colour"] if views.channels == (1, 2) else list("123")
    count = sum(p.views for p in views.pipelines) if isinstance(views, MultiView) else views.views
    return ["the view"] if count == 1 else [f"view {n + 1}" for n in range(count)]


Rows = list[tuple[Tensor, list[Shot]]]


def _printed(title: str, heading: list[str], rows: Rows, captions: list[str]) -> Image.Image:
    """Put title, heading, column names, rows and legend on one sheet."""
    head = MARGIN + 26 + LINE * len(heading) + 30
    under = [_under(shots) for _, shots in rows]
    width = MARGIN + (CELL + MARGIN) * (1 + len(captions))
    height = head + sum(CELL + LINE * lines + MARGIN for lines in under) + LINE + MARGIN
    sheet = Image.new("RGB", (width, height), PAPER)
    pen = ImageDraw.Draw(sheet)
    pen.text((MARGIN, MARGIN - 4), title, INK, _font(19))
    for n, line in enumerate(heading):
        pen.text((MARGIN, MARGIN + 24 + LINE * n), line, FAINT, _font(12))
    for column, name in enumerate(["image, with the crops", *captions]):
        pen.text((MARGIN + column * (CELL + MARGIN), head - 20), name, INK, _font(12))
    top = head
    for (image, shots), lines in zip(rows, under, strict=True):
        _row(sheet, pen, image, shots, top)
        top += CELL + LINE * lines + MARGIN
    pen.text((MARGIN, top), LEGEND, FAINT, _font(11))
    return sheet


def _under(shots: list[Shot]) -> int:
    """Count the lines of words that a row needs."""
    return max(len(_lines(shot.words)) for shot in shots)


def _row(
    sheet: Image.Image, pen: ImageDraw.ImageDraw, image: Tensor, shots: list[Shot], top: int
) -> None:
    original = Image.fromarray(image[:3].expand(3, -1, -1).permute(1, 2, 0).numpy())
    small, scale = _fitted(original)
    sheet.paste(small, (MARGIN, top))
    for shot in shots:
        if shot.box is not None:
            left, upper, right, lower = (round(side * scale) for side in shot.box)
            frame = (MARGIN + left, top + upper, MARGIN + right - 1, top + lower - 1)
            pen.rectangle(frame, outline=shot.colour, width=2)
    height, width = image.shape[-2:]
    pen.text((MARGIN, top + small.height + 3), f"{width} x {height}", FAINT, _font(11))
    for column, shot in enumerate(shots, start=1):
        left = MARGIN + column * (CELL + MARGIN)
        view, _ = _fitted(shot.picture)
        sheet.paste(view, (left, top))
        frame = (left - 2, top - 2, left + view.width + 1, top + view.height + 1)
        pen.rectangle(frame, outline=shot.colour, width=2)
        for n, line in enumerate(_lines(shot.words)):
            pen.text((left, top + view.height + 4 + LINE * n), line, INK, _font(11))


def _fitted(picture: Image.Image) -> tuple[Image.Image, float]:
    """Scale a picture to its cell: small ones in whole pixels, so that one sees them."""
    scale = CELL / max(picture.size)
    size = (max(1, round(picture.width * scale)), max(1, round(picture.height * scale)))
    way = Image.Resampling.NEAREST if scale >= 2 else Image.Resampling.LANCZOS
    return picture.resize(size, way), scale


def _lines(words: str) -> list[str]:
    """Return what was done in lines that fit under a view."""
    return _wrapped(words.split("  "), " · ", CELL, _font(11))


def _wrapped(parts: Sequence[str], between: str, width: int, font: Font) -> list[str]:
    """Put parts side by side while they fit, then on the next line."""
    lines = [""]
    for part in parts:
        longer = f"{lines[-1]}{between}{part}" if lines[-1] else part
        if font.getlength(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(part)
    return [line for line in lines if line]


def _font(size: int) -> Font:
    return ImageFont.load_default(size)
