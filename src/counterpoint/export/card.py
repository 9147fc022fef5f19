"""The model card: README.md, filled with what the run knows and with nothing else."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from counterpoint.export.card_facts import (
    accuracy_rows,
    cost_rows,
    data_rows,
    given_as_it_was,
    limits,
    method_tags,
    of_the_exported,
    title,
)
from counterpoint.export.pixel_recipe import PixelRecipe
from counterpoint.export.proof import BATCHES, BOUND, Difference
from counterpoint.export.proof_images import COUNT
from counterpoint.export.route import Loading, Route
from counterpoint.export.subject import Subject
from counterpoint.report.findings import Findings

CARD = "README.md"
SHEET = "views.png"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CardMaterial:
    """Everything that a card is written from."""

    run: Findings | None
    """What the folder of the run says; None where there is no folder."""
    subject: Subject
    routes: tuple[Route, ...]
    loading: Mapping[str, Loading]
    differences: tuple[Difference, ...]
    width: int
    """The length of a vector."""
    real: bool
    """Whether real images were given: the proof embedded some, and the views show some."""


def card(material: CardMaterial) -> str:
    """Write the card; sections without anything to say are left out."""
    material = replace(material, run=of_the_exported(material.run, material.subject))
    run, side = material.run, picture_side(material.subject)
    sections = [
        front_matter(material),
        f"# {title(run)}\n",
        _summary(material),
        _loading(material),
        _section("Training", _rows(cost_rows(run)) + _rows(data_rows(run)) if run else ""),
        _parts(material),
        _section("Views", f"![Images and the views drawn of them]({SHEET})\n" * material.real),
        _section("Accuracy", _accuracy(run)),
        _section("Health", _health(run)),
        _section("Proof", _proof(material)),
        _section("Limits", "".join(f"- {line}\n" for line in limits(run, side))),
    ]
    return "\n".join(section for section in sections if section)


def front_matter(material: CardMaterial) -> str:
    """Write the YAML that model hubs read; JSON strings are YAML, so nothing needs more quoting."""
    names = [route.name for route in material.routes]
    tags = method_tags(material.run, labels=material.subject.method.needs_labels)
    tags += [name for name in ("timm", "onnx") if name in names]
    lines = ["---", f"library_name: {'timm' if 'timm' in names else 'counterpoint'}"]
    lines.append("pipeline_tag: image-feature-extraction")
    lines += ["tags:", *(f"- {_quoted(tag)}" for tag in tags)] if tags else []
    if material.subject.licence is not None:
        lines.append(f"license: {_quoted(material.subject.licence)}")
    return "\n".join([*lines, *_model_index(material.run), "---", ""])


def _model_index(run: Findings | None) -> list[str]:
    """Write measured accuracies as the hub's model-index."""
    if run is None or run.evaluation is None or run.evaluation.data is None:
        return []
    known = [p for p in run.evaluation.probes if p.test is not None and p.fraction == 1]
    if not known:
        return []
    data = _quoted(run.evaluation.data.removesuffix(" train"))
    dataset = f"    dataset: {{name: {data}, type: {data}}}"
    metrics = [
        f"    - {{type: accuracy, value: {probe.test:.4f}, name: {_quoted(probe.words)}}}"
        for probe in known
    ]
    head = ["model-index:", f"- name: {_quoted(title(run))}", "  results:"]
    task = "  - task: {type: image-classification}"
    return [*head, task, dataset, "    metrics:", *metrics]


def _summary(material: CardMaterial) -> str:
    side = picture_side(material.subject)
    which = ", the moving average of the trained one," if material.subject.twin else ""
    labels = "with" if material.subject.method.needs_labels else "without"
    how = "" if given_as_it_was(material.run) else f" that was trained {labels} labels"
    return (
        f"An encoder of images{which}{how}. A picture of "
        f"{side} x {side} pixels becomes a vector of {material.width:,} numbers: "
        "the global average of the encoder's last feature map. No projection head is included.\n"
    )


def _parts(material: CardMaterial) -> str:
    """List the method; of an encoder that was not trained here, only the encoder."""
    rows = material.subject.method.rows()
    if given_as_it_was(material.run):
        return _section("Encoder", f"{dict(rows)['encoder']}\n")
    return _section("The five parts", _table(("part", "settings"), rows))


def _loading(material: CardMaterial) -> str:
    """Print the lines that the proof ran."""
    parts = [
        "## Load it\n",
        "Run these lines in this folder; `pictures` is a list of PIL images. They are the lines "
        "that the proof ran.\n",
    ]
    for route in material.routes:
        found = material.loading[route.name]
        needs = ", ".join(f"`{file}`" for file in route.files)
        parts.append(f"### {route.title}\n\nNeeds {needs}.\n\n```python\n{found.lines}```\n")
        parts.append(f"{found.remark}\n" if found.remark else "")
    return "\n".join(part for part in parts if part)


def _accuracy(run: Findings | None) -> str:
    rows = accuracy_rows(run)
    if not rows or run is None or run.evaluation is None:
        return ""
    data = (run.evaluation.data or "images").removesuffix(" train")
    tuned = any(probe.name == "finetune" for probe in run.evaluation.probes)
    frozen = "with the encoder frozen" + (", but for fine-tuning" if tuned else "")
    on = f"Measured on {data} {frozen}: chosen on validation images, scored once.\n\n"
    return on + _table(("probe", "labels", "test", "95 % interval"), rows)


def _health(run: Findings | None) -> str:
    last = None if run is None else run.last
    if last is None or last.verdict is None:
        return ""
    return f"**{last.verdict.capitalize()}.** {last.why or ''}\n"


def _proof(material: CardMaterial) -> str:
    images = "real images" if material.real else "generated images (kept in `proof.npz`)"
    batches = "{}, {} and {}".format(*BATCHES)
    words = (
        f"Each route was loaded in a fresh process and embedded {COUNT} {images}, and one of them "
        f"again turned by EXIF, with transparency and with 16 bits, in batches of {batches}. The "
        "largest difference from the run's own vectors, and the same relative to the largest "
        f"value; the bound is {BOUND:g}.\n\n"
    )
    rows = [(d.route, f"{d.absolute:.1e}", f"{d.relative:.1e}") for d in material.differences]
    return words + _table(("route", "difference", "relative"), rows)


def picture_side(subject: Subject) -> int:
    """Return the side of what is cut out of a picture."""
    pixels = subject.pixels
    return pixels.side if isinstance(pixels, PixelRecipe) else subject.side


def _section(heading: str, body: str) -> str:
    return f"## {heading}\n\n{body}" if body else ""


def _rows(rows: Sequence[tuple[str, str]]) -> str:
    return "".join(f"- {name}: {value}\n" for name, value in rows)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Write a table of Markdown; bars inside of cells would end them."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "".join(
        f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |\n" for line in lines
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
