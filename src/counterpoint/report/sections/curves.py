"""How training went: the loss, the learning rate and what drives the steps."""

from counterpoint.report.charts import Series, lines
from counterpoint.report.charts.frame import captioned
from counterpoint.report.charts.line_chart import MAX_POINTS
from counterpoint.report.findings import Findings
from counterpoint.report.health_record import measure_history
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Material, Section, code, hint
from counterpoint.report.words import four_digits as number
from counterpoint.report.words import joined
from counterpoint.run_files import METRICS

DRIVING = {
    "lr": ("Learning rate", "At the end of each epoch."),
    "gradient_norm": ("Gradient norm", "Over all parameters. Jumps mark unstable steps."),
    "momentum": ("Momentum of the twin", "The share of the old weights that a step keeps."),
}


def curves(material: Material) -> Section:
    """Draw loss, rate, gradient norm and momentum, runs over each other."""
    drawn = [*_losses(material), *driving(material)]
    if not drawn:
        missing = hint("No curves: this run has no ", code(METRICS), ".")
        return Section("curves", "Training", missing)
    return Section("curves", "Training", el("div", {"class": "grid"}, *drawn))


def driving(material: Material) -> list[Html]:
    """Draw what health.jsonl knows of the optimiser."""
    drawn = []
    for name, (title, note) in DRIVING.items():
        series = by_epoch(material, name)
        if series:
            drawn.append(captioned(title, note, curve(series, title=title, x_words="epoch")))
    return drawn


def by_epoch(material: Material, name: str) -> list[Series]:
    """Follow a measure of health in every run that has it."""
    found = [(place, measure_history(run.health, name)) for place, run in enumerate(material.runs)]
    return [
        Series(material.runs[place].folder, points, place, material.letter(place))
        for place, points in found
        if points
    ]


def _losses(material: Material) -> list[Html]:
    """Draw the loss: on one chart if runs count it alike, on one each if not."""
    runs = [(place, run) for place, run in enumerate(material.runs) if run.loss]
    if len({_counted(run) for _, run in runs}) > 1:
        note = "Of single steps. Runs count it differently: their numbers are not comparable."
        return [_loss(material, [pair], note) for pair in runs]
    return [_loss(material, runs, None)] if runs else []


def _counted(run: Findings) -> tuple[object, ...]:
    """Return what the size of a loss depends on: candidates, similarity, loss and batch."""
    rows = dict(run.rows)
    parts = (rows.get(name) for name in ("extraction", "similarity", "loss"))
    return (*parts, run.training.get("batch"))


def _loss(material: Material, runs: list[tuple[int, Findings]], note: str | None) -> Html:
    series = [Series(run.folder, run.loss, place, material.letter(place)) for place, run in runs]
    badges = join([material.badge(place) for place, _ in runs])
    longest = max(len(s.points) for s in series)
    thin = f" Means of {-(-longest // MAX_POINTS)} logged steps." if longest > MAX_POINTS else ""
    said = note or f"Of single steps, as they were logged.{thin}"
    return captioned(join(["Loss ", badges]), said, curve(series, title="Loss", x_words="step"))


def curve(series: list[Series], *, title: str, x_words: str) -> Html:
    """Draw a chart; of one point each, say the figures: a short run has no curve."""
    if max(len(one.points) for one in series) > 1:
        return lines(series, title=title, x_words=x_words)
    said = [
        f"{one.letter} {number(value)} at {x_words} {place:g}".strip()
        for one in series
        for place, value in one.points
    ]
    return el("p", {"class": "single"}, joined(said))


SECTIONS = (curves,)
