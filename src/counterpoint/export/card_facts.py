"""What a card says about a run, as plain rows; what the run does not know is not there."""

from dataclasses import replace

from counterpoint.export.subject import Subject
from counterpoint.report.findings import Findings
from counterpoint.report.sections.headline import short_data
from counterpoint.report.words import label_share, percent


def given_as_it_was(run: Findings | None) -> bool:
    """Whether an encoder was exported without a step of training."""
    return run is not None and run.steps == 0


def of_the_exported(run: Findings | None, subject: Subject) -> Findings | None:
    """Leave out accuracies of other vectors: of the encoder of a twin, or of another map."""
    if run is None or run.evaluation is None:
        return run
    other = subject.twin or run.evaluation.map is not None
    return replace(run, evaluation=None) if other else run


def method_tags(run: Findings | None, *, labels: bool) -> list[str]:
    """Return what a hub may sort by; nothing of an encoder that was not trained here."""
    if run is None or given_as_it_was(run):
        return []
    named = [] if run.job is None or not run.job.name else [run.job.name]
    kind = [] if labels else ["self-supervised-learning"]
    return [*kind, "contrastive-learning", *named]


def title(run: Findings | None) -> str:
    """Name the encoder by its method and its data."""
    if run is None:
        return "An encoder of images"
    if given_as_it_was(run):
        return str(run.bare.get("encoder", "An encoder of images"))
    named = "" if run.job is None or not run.job.encoder else f", {run.job.encoder}"
    data = short_data(run) if run.steps else None
    return f"{run.name}{named}, {data}" if data else f"{run.name}{named}"


def cost_rows(run: Findings) -> list[tuple[str, str]]:
    """Say how long it was trained, from what, and with what."""
    rows = []
    if run.steps is not None:
        batch = run.training.get("batch")
        seen = f", {run.steps * batch:,.0f} images seen" if batch and run.steps else ""
        rows.append(("steps", f"{run.steps:,.0f}{seen}"))
    start = run.bare.get("weights") if run.job is None else run.job.weights
    if start is not None:
        rows.append(("weights at the start", f"{start['file']} (SHA-256 `{start['sha256']}`)"))
    if run.job is not None and run.job.start is not None:
        rows.append(("continues", str(run.job.start.get("folder"))))
    if "encoder" in run.weights:
        rows.append(("parameters of the encoder", f"{run.weights['encoder'][0]:,}"))
    shown = ("optimiser", "lr", "batch", "weight_decay", "precision", "seed")
    known = [f"{key.replace('_', ' ')} {run.training[key]}" for key in shown if key in run.training]
    if run.steps and known:
        rows.append(("settings", ", ".join(known)))
    if run.versions:
        rows.append(("versions", ", ".join(f"{k} {v}" for k, v in run.versions.items())))
    if run.fingerprint:
        rows.append(("fingerprint of the method", f"`{run.fingerprint}`"))
    return rows


def data_rows(run: Findings) -> list[tuple[str, str]]:
    """Say what it was trained on."""
    rows = [("images", run.data)] if run.data and run.steps else []
    found = None if run.job is None else run.job.data.get("fingerprint")
    if found:
        rows.append(("fingerprint of the images", f"`{found}`"))
    return rows


def accuracy_rows(run: Findings | None) -> list[tuple[str, str, str, str]]:
    """List the measured accuracies with their intervals."""
    if run is None or run.evaluation is None:
        return []
    return [
        (
            probe.words,
            label_share(probe.fraction),
            percent(probe.test),
            f"{percent(probe.low)} to {percent(probe.high)}"
            if probe.low is not None and probe.high is not None
            else "not known",
        )
        for probe in run.evaluation.probes
        if probe.test is not None
    ]


def limits(run: Findings | None, side: int) -> list[str]:
    """Say what follows from how it was made, and what nobody measured."""
    said = [
        f"Made for views of {side} x {side} pixels; other sizes were not tried.",
        "It knows what is in its training images and nothing else; it was not checked for bias.",
        "The proof resizes nothing, since libraries round resized pixels differently: on other "
        "images expect differences of about a grey level before the encoder.",
    ]
    if run is None or run.evaluation is None:
        said.append("Its accuracy was not measured.")
    if given_as_it_was(run):
        said.append("It was exported as it was given: this library did not train it.")
    return said
