"""The top of the page: what was trained, how good it is, and its health."""

from counterpoint.evaluation.health.verdict import Word
from counterpoint.report.evaluation_record import Probe
from counterpoint.report.figures import (
    chosen_probe,
    clear_lead,
    guess,
    headline_probe,
    in_words,
    interval_words,
    started,
    started_words,
)
from counterpoint.report.findings import Findings
from counterpoint.report.markup import Html, el, join
from counterpoint.report.material import Material
from counterpoint.report.method_name import data_title, method_title
from counterpoint.report.words import four_digits, joined, letter, percent

GOOD, WARNING, BAD = ("good", "\u2713"), ("warn", "!"), ("bad", "\u2715")
KINDS: dict[Word, tuple[str, str]] = {
    "broken": BAD,
    "trivial": BAD,
    "collapsed": BAD,
    "collapsing": BAD,
    "slow": WARNING,
    "starting": WARNING,
    "healthy": GOOD,
}
"""The colour and the mark of each verdict."""

PLAIN = {"healthy": "It learns, and nothing has collapsed. "}
"""What a verdict means, where its reason is only figures."""


def page_title(material: Material) -> str:
    """Name the page: the method and the data, or the runs compared."""
    if material.several:
        long = any(" with another " in run.name for run in material.runs)
        names = [run.folder if long else run.name for run in material.runs]
        short = len(names) <= 3 and len(set(names)) == len(names)
        return f"{joined(names)}, compared" if short else f"{len(names)} runs compared"
    run = material.runs[0]
    data = short_data(run)
    name = run.name if run.method is None or run.bare else method_title(run.method)
    return f"{name}, {data_title(data)}" if data else name


def short_data(run: Findings) -> str | None:
    """Return the name of a run's data set; of one of an earlier version, that of its split."""
    if run.job is None:
        return (run.data or "").partition(": ")[0] or None
    name, limit = str(run.job.data["name"]), run.job.data["limit"]
    whole = name if limit is None else name.removesuffix(f" first {limit:,}")
    return whole.removesuffix(" train") or None


def lead(material: Material) -> Html:
    """Tell the best figure in words."""
    key = chosen_probe(material.runs)
    probes = [headline_probe(run, key) for run in material.runs]
    found = [(place, probe) for place, probe in enumerate(probes) if probe is not None]
    if not found:
        return el("p", {"class": "lead"}, _unmeasured(material))
    if len(found) > 1:
        return _compared(material, found)
    [(place, best)] = found
    run = material.runs[place]
    said = started_words(run, best)
    if not said:
        blind = guess(best)
        versus = f" Always guessing the commonest class reaches {percent(blind)}." if blind else ""
        said = f"{versus}{_grown(run)}"
    who = f"{letter(place)} ({run.name}): " if material.several else ""
    rest = " The accuracy of the others has not been measured yet." if material.several else ""
    return el("p", {"class": "lead"}, f"{who}{in_words(best)}{said}{rest}")


def _unmeasured(material: Material) -> str:
    """Say why there is no figure to report."""
    measured = [n for n, run in enumerate(material.runs) if run.evaluation is not None]
    if len(measured) > 1:
        return f"{joined([letter(n) for n in measured])} have no probe in common to be compared by."
    whose = "Their" if material.several else "Its"
    return f"{whose} accuracy has not been measured yet."


def _grown(run: Findings) -> str:
    """Compare with the start, where labels were looked at before training and after."""
    known = [(epoch.epoch, epoch.values["knn"]) for epoch in run.health if "knn" in epoch.values]
    if len(known) < 2 or known[0][0] != 0:
        return ""
    before, after = (percent(value) for _, value in (known[0], known[-1]))
    given = run.job is not None and (run.job.start or run.job.weights)
    start = "before training" if given else "with random weights"
    return f" By kNN on a few labels it went from {before} {start} to {after}."


def _compared(material: Material, found: list[tuple[int, Probe]]) -> Html:
    """Say which run is ahead, by how much, and whether that may be chance."""
    ordered = sorted(found, key=lambda pair: -(pair[1].test or 0.0))
    place, best = ordered[0]
    seen = {run.evaluation.fingerprint for run in material.runs if run.evaluation}
    if len(seen) > 1:
        each = joined([f"{letter(n)} {percent(probe.test)}" for n, probe in found])
        words = f"By the {best.words}: {each}. They were evaluated on different images, and the "
        return el("p", {"class": "lead"}, f"{words}figures are not comparable.")
    level = [n for n, probe in ordered if percent(probe.test) == percent(best.test)]
    rest = joined([f"{letter(n)} {percent(probe.test)}" for n, probe in ordered[len(level) :]])
    share = f"{percent(best.test)} of the test images correctly{f', {rest}' if rest else ''}"
    if len(level) > 1:
        who = joined([letter(n) for n in level])
        words = f"{who} are level by the {best.words}: they classify {share}."
        return el("p", {"class": "lead"}, words)
    who = f"{letter(place)} ({material.runs[place].name})"
    clear = clear_lead([probe for _, probe in found])
    said = "" if clear else " The first two intervals overlap: their order may be due to chance."
    words = f"{who} is ahead by the {best.words}: it classifies {share}.{said}"
    return el("p", {"class": "lead"}, words)


def verdict_box(run: Findings, badge: Html | None) -> Html | None:
    """Show the last verdict on the run's health, with its reason."""
    last = run.last
    if last is None or last.verdict is None:
        return None
    kind, mark = verdict_kind(last.verdict)
    word = last.verdict[:1].upper() + last.verdict[1:]
    return el(
        "div",
        {"class": f"verdict {kind}"},
        el("p", {"class": "word"}, badge, el("span", {"aria-hidden": "true"}, f"{mark} "), word),
        el("p", {}, f"{PLAIN.get(last.verdict, '')}{last.why or ''}"),
    )


def verdict_kind(word: str) -> tuple[str, str]:
    """Return the colour and the mark of a verdict; a word of another version is a warning.

    >>> verdict_kind("healthy"), verdict_kind("collapsing"), verdict_kind("slow")
    (('good', '✓'), ('bad', '✕'), ('warn', '!'))
    """
    return next((kind for known, kind in KINDS.items() if known == word.lower()), WARNING)


def tiles(run: Findings, material: Material) -> Html:
    """Show the figures that people look for first."""
    probe = headline_probe(run, chosen_probe(material.runs))
    found = []
    if probe is not None:
        earlier = started(run, probe)
        more = f", {percent(earlier.test)} before training" if earlier else ""
        found.append((percent(probe.test), f"{probe.words}, test", interval_words(probe) + more))
    if run.last is not None and "rankme" in run.last.values:
        width = run.last.values.get("width")
        of = f"of {width:.0f}" if width else ""
        found.append((four_digits(run.last.values["rankme"]), "dimensions in use (RankMe)", of))
    if run.loss:
        first, last = run.loss[0][1], run.loss[-1][1]
        begun = f"from {four_digits(first)}" if len(run.loss) > 1 else ""
        found.append((four_digits(last), "loss at the end", begun))
    if run.steps is not None:
        batch = run.training.get("batch")
        seen = f"{run.steps * batch:,.0f} images seen" if batch else ""
        found.append((f"{run.steps:,.0f}", "steps", seen))
    if "encoder" in run.weights:
        count = run.weights["encoder"][0]
        found.append((f"{count / 1e6:.2f} M", "parameters of the encoder", ""))
    return el("dl", {"class": "tiles"}, *(_tile(*one) for one in found))


def _tile(value: str, name: str, more: str) -> Html:
    small = el("dd", {"class": "more"}, more) if more else None
    inside = join([el("dt", {}, name), el("dd", {"class": "value"}, value), small])
    return el("div", {}, inside)
