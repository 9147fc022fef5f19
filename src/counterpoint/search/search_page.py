"""The gallery of a search: query and results in one HTML file that needs no network."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from counterpoint.data import UnreadableImageError
from counterpoint.data.packed_names import shown
from counterpoint.data.source import StoredPicture
from counterpoint.report.markup import Html, el, script_hash
from counterpoint.report.palette import variables
from counterpoint.report.thumbnails import data_uri
from counterpoint.search.query_words import Query, query_picture
from counterpoint.vectors import Vectors

HERE = Path(__file__).parent
SIDE = 224  # pixels of a picture: sharp on a phone, 10 kB each


def search_page(
    vectors: Vectors, asked: Sequence[Query], records: Sequence[dict[str, Any]], *, how: str
) -> str:
    """Return the whole page; `how` says how the search was done."""
    style, script = (HERE / "search.css").read_text(), (HERE / "search.js").read_text()
    policy = (
        "default-src 'none'; img-src data:; style-src 'unsafe-inline'; "
        f"script-src '{script_hash(script)}'; base-uri 'none'; form-action 'none'"
    )
    folder = shown(os.fsencode(vectors.folder))
    head = el(
        "head",
        {},
        el("meta", {"charset": "utf-8"}),
        el("meta", {"name": "viewport", "content": "width=device-width, initial-scale=1"}),
        el("meta", {"http-equiv": "Content-Security-Policy", "content": policy}),
        el("meta", {"name": "color-scheme", "content": "light dark"}),
        el("title", {}, f"search in {Path(folder).name} · counterpoint"),
        Html(f"<style>{variables()}{style}</style>"),
    )
    top = el(
        "header",
        {},
        el("p", {"class": "brand"}, "counterpoint ", el("span", {}, "search")),
        el("h1", {}, "Nearest images"),
        el("p", {"class": "about"}, f"{len(vectors.samples):,} images · {how}"),
        el("p", {"class": "about"}, f"{folder} · {vectors.record.encoder['name']}"),
    )
    sections = [
        _section(vectors, query, record) for query, record in zip(asked, records, strict=True)
    ]
    foot = el("footer", {}, "Made by counterpoint. This file needs no network and sends nothing.")
    body = el("body", {}, top, el("main", {}, *sections), foot, Html(f"<script>{script}</script>"))
    return "<!doctype html>\n" + el("html", {"lang": "en"}, head, body) + "\n"


def _section(vectors: Vectors, query: Query, record: dict[str, Any]) -> Html:
    place = record["query"] if record["sample"] is None else vectors.full_path(record["sample"])
    title = _name(place) or f"image {record['sample']}"
    cards = [_card(vectors, number, one) for number, one in enumerate(record["found"], start=1)]
    asked = el(
        "div",
        {"class": "asked"},
        _image(query_picture(vectors, query), f"the query {title}"),
        el("div", {}, el("h2", {}, title), _path(place)),
    )
    return el("section", {}, asked, el("ol", {"class": "found"}, *cards))


def _card(vectors: Vectors, number: int, record: dict[str, Any]) -> Html:
    name = _name(record["file"]) or f"image {record['sample']}"
    words = [record["split"], None if record["label"] is None else str(record["label"])]
    cosine = record["cosine"]
    return el(
        "li",
        {},
        _image(vectors.picture(record["sample"]), name),
        el(
            "div",
            {"class": "words"},
            el(
                "p",
                {"class": "cosine", "title": "similarity: the cosine of both vectors"},
                el("span", {"class": "rank"}, f"{number}"),
                f"{cosine:.3f}",
            ),
            el("div", {"class": "bar"}, el("i", {"style": f"width:{max(0.0, cosine):.1%}"})),
            el("p", {"class": "name"}, name),
            el("p", {"class": "more"}, " · ".join(filter(None, words))),
            _path(record["file"]),
        ),
    )


def _path(place: str | None) -> Html | None:
    if place is None:
        return None
    copy = {"type": "button", "data-copy": place, "aria-label": f"Copy the path {place}"}
    return el("p", {"class": "path"}, el("code", {}, place), el("button", copy, "Copy"))


def _name(place: str | None) -> str | None:
    return None if place is None else Path(place).name


def _image(picture: StoredPicture | None, name: str) -> Html:
    try:
        if picture is not None:
            small = _thumbnail(picture)
            side = {"width": small.width, "height": small.height}
            pixels = "small" if max(small.size) <= 64 else None
            return el("img", {"src": data_uri(small), "alt": name, "class": pixels, **side})
    except UnreadableImageError:
        pass  # it was changed since it was embedded
    return el("div", {"class": "gone"}, "not there any more")


def _thumbnail(picture: StoredPicture) -> Image.Image:
    scale = min(1.0, SIDE / max(picture.height, picture.width))
    pixels = picture.decode(scale)
    colours = pixels[:3] if len(pixels) >= 3 else pixels[:1].expand(3, -1, -1)
    image = Image.fromarray(np.ascontiguousarray(colours.permute(1, 2, 0).numpy()))
    image.thumbnail((SIDE, SIDE), Image.Resampling.LANCZOS)
    return image
