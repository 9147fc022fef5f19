"""The health of the representation: rank, geometry, contrast, and labels where there are any."""

from dataclasses import dataclass

from counterpoint.report.charts import Guide, histograms, lines
from counterpoint.report.charts.frame import captioned
from counterpoint.report.findings import Findings
from counterpoint.report.health_record import Epoch
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Material, Section, code, hint, scrolled
from counterpoint.report.sections.curves import by_epoch
from counterpoint.report.words import four_digits as number
from counterpoint.run_files import HEALTH


@dataclass(frozen=True, slots=True)
class Measure:
    """A sign of health: its key in the file, its name, and how to read it."""

    key: str
    title: str
    note: str
    guide: str | None = None
    """The key of a level to compare with."""


MEASURES = (
    Measure("rankme", "RankMe", "Dimensions in use; near 1 is collapse (Garrido et al. 2023)."),
    Measure("lidar", "LiDAR", "Dimensions that tell images apart (Thilak et al. 2024)."),
    Measure(
        "alpha", "Alpha", "How fast the spectrum decays; near 1 is best (Agrawal et al. 2022)."
    ),
    Measure(
        "top1", "Positive found first", "Share of anchors nearest to their positive.", "chance"
    ),
    Measure(
        "alignment", "Alignment", "Distance of two views; lower is closer (Wang and Isola 2020)."
    ),
    Measure("uniformity", "Uniformity", "Lower fills the sphere better (Wang and Isola 2020)."),
    Measure("deviation", "Deviation", "Spread of unit vectors; 0 is collapse (Chen and He 2021)."),
    Measure("knn", "kNN while training", "A quick look at few labels, not the evaluation."),
    Measure("linear", "Linear while training", "A quick look at few labels, not the evaluation."),
)

LARGE = ("rankme", "top1", "knn")
"""The signs that are shown at once; the others are folded."""


def health(material: Material) -> Section:
    """Draw every sign over the epochs, and the scores of positives and negatives."""
    drawn = {one.key: chart for one in MEASURES if (chart := _chart(material, one)) is not None}
    scores = [chart for place in range(len(material.runs)) for chart in _scores(material, place)]
    if not drawn and not scores:
        missing = hint("No record of health: ", code(HEALTH), " is written by pretraining.")
        return Section("health", "Health", missing)
    large = [chart for key, chart in drawn.items() if key in LARGE]
    rest = [chart for key, chart in drawn.items() if key not in LARGE] + scores
    more = el(
        "details",
        {},
        el("summary", {}, f"All signs: {len(rest)} more charts"),
        el("div", {"class": "grid small"}, *rest),
    )
    body = join([el("div", {"class": "grid"}, *large), more if rest else None, _tables(material)])
    return Section("health", "Health", body)


def _chart(material: Material, one: Measure) -> Html | None:
    series = by_epoch(material, one.key)
    if not series:
        return None
    guides = [Guide("chance", level)] if (level := _level(material, one.guide)) is not None else []
    note = one.note
    if one.key == "rankme" and (width := _level(material, "width")) is not None:
        note = f"Dimensions in use, of {width:.0f}; near 1 is collapse (Garrido et al. 2023)."
    chart = lines(
        series, title=one.title, x_words="epoch", guides=guides, small=one.key not in LARGE
    )
    return captioned(one.title, note, chart)


def _level(material: Material, key: str | None) -> float | None:
    """Return a level that all runs share; None if they do not."""
    found = {run.last.values.get(key) for run in material.runs if run.last} if key else set()
    return found.pop() if len(found) == 1 else None


def _scores(material: Material, place: int) -> list[Html]:
    """Draw the scores at the first and at the last epoch that has them."""
    epochs = [e for e in material.runs[place].health if e.positive and e.negative]
    shown = epochs[:1] + epochs[-1:] if len(epochs) > 1 and not material.several else epochs[-1:]
    edges = [
        edge for e in epochs for h in (e.positive, e.negative) if h for edge in _reach(h.edges)
    ]
    return [_score(material, place, e, (min(edges), max(edges))) for e in shown]


def _reach(edges: tuple[float, ...]) -> tuple[float, float]:
    return edges[0], edges[-1]


def _score(material: Material, place: int, epoch: Epoch, edges: tuple[float, float]) -> Html:
    assert epoch.positive is not None
    assert epoch.negative is not None
    title = f"Similarities, epoch {epoch.epoch:g}"
    key = join([_key("positive"), " ", _key("negative")])
    chart = histograms(epoch.positive, epoch.negative, title=title, edges=edges)
    return captioned(join([title, " ", material.badge(place)]), key, chart)


def _key(kind: str) -> Html:
    return el("span", {"class": "keyed"}, el("span", {"class": f"key {kind}"}), f"{kind}s")


def _tables(material: Material) -> Html:
    return join([_table(run, material.badge(n)) for n, run in enumerate(material.runs)])


def _table(run: Findings, badge: Html | None) -> Html | None:
    """Fold the figures of every epoch away, for those who want them."""
    if not run.health:
        return None
    keys = [one for one in MEASURES if any(one.key in e.values for e in run.health)]
    head = [el("th", {"scope": "col"}, one.title) for one in keys]
    rows = [
        el(
            "tr",
            {},
            el("th", {"scope": "row"}, f"{epoch.epoch:g}"),
            *(el("td", {}, number(epoch.values.get(one.key))) for one in keys),
            el("td", {"class": "words"}, epoch.verdict or ""),
        )
        for epoch in run.health
    ]
    top = el(
        "tr", {}, el("th", {"scope": "col"}, "epoch"), *head, el("th", {"scope": "col"}, "verdict")
    )
    table = el("table", {"class": "figures"}, el("thead", {}, top), el("tbody", {}, *rows))
    summary = el("summary", {}, badge, "Every epoch in figures")
    return el("details", {}, summary, scrolled("Health by epoch", table))


SECTIONS = (health,)
