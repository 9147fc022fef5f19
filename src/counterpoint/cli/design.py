"""counterpoint design."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from counterpoint.catalogue import METHODS
from counterpoint.cli.early import refuse_early, refuse_store, refuse_unknown
from counterpoint.cli.last_words import chosen_options, last_words
from counterpoint.cli.resumable import resumable

if TYPE_CHECKING:
    from counterpoint.design.design_settings import DesignSettings, ImageFacts


def design_command(
    data: str,
    *,
    hours: float,
    rounds: int | None = None,
    halved: int | None = None,
    out: str = "runs/design",
    plan: bool = False,
    labels: Literal["knn", "linear"] | None = None,
    watch: Literal["knn", "linear"] | None = None,
    labelled: int = 5000,
    earlier: str | None = None,
    without: str | None = None,
    criteria: str = "rotation-folds",
    strategy: Literal["evolution", "random"] = "evolution",
    candidates: int = 27,
    full_epochs: float | None = None,
    encoder: str | None = None,
    size: int | None = None,
    limit: int | None = None,
    batch_size: int | None = None,
    seed: int = 0,
    runner: Literal["local", "ray"] = "local",
    cpus: int = 1,
    at_once: int | None = None,
    address: str | None = None,
    speed: float = 0.04,
) -> None:
    """Search for a method that suits your images, among compositions of all five parts.

    The known methods are the first candidates; the next are changes to the best, one part or one
    setting at a time, or two of them crossed. What cannot work or costs too much is refused before
    it runs. A third of the candidates of a round trains three times as long, a third of those the
    full length (--halved). No labels are needed, and test images are never read.

    A full trial costs as much as one epoch of simclr-small, or less, so that the hours hold about
    ten rounds on cores that do 20 x 10^9 operations a second. Give the same command again at any
    time: the search resumes, also with more hours.

    Example:
        counterpoint design photos --hours 16 --plan

    Args:
        data: Folder, file or address of images.
        hours: Processor hours that all trials may take together; two cores that do nothing else
            use them in half the time by the clock.
        rounds: End after so many rounds, if the hours hold them (default: the hours decide).
        halved: Choose by short trials in the first N rounds only, and train every candidate of
            later rounds in full: three times the operations, for nine times as many candidates
            that are compared at full length. Rounds stay in full once they are (default: in all
            rounds).
        out: Folder of the search.
        plan: Only print what the search would take.
        labels: Choose by the validation accuracy of this probe, where there are labels
            (default: none, criteria without labels choose).
        watch: Record the validation accuracy of this probe, and do not choose by it
            (default: none).
        labelled: Labelled images of each split that these probes read. With more of them the
            choice is closer to an evaluation with all labels, and a trial takes longer.
        earlier: Folder of an earlier search with other settings. The best of each kind that it
            found are the first candidates, in the place of the known methods (default: none).
        without: Shipped methods that the search does not know, separated by commas. With a method
            left out you can see whether a search finds it, and an older search can be made again
            (default: none).
        criteria: Criteria to choose by, of rankme, lidar, alpha, rotation, rotation-folds and
            learnability; their mean rank counts. The rotation probe needs images with an up and a
            down: for others, such as cells or satellite images, give rankme,lidar.
        strategy: "random" draws every candidate at random, for a comparison at equal cost.
        candidates: Candidates of a round.
        full_epochs: Length of a full trial, as what so many epochs of simclr-small cost
            (default: see above).
        encoder: Encoder of all candidates (default: a narrow ResNet for small images).
        size: Side in pixels that images of varying size are cut to (default: 128).
        limit: Use only the first N images of each split (default: all).
        batch_size: Images per update of the known methods (default: each one's own).
        seed: Seed of the search and of all trials.
        runner: "local" runs processes on this machine, "ray" runs tasks on a Ray cluster.
        cpus: Cores of each trial.
        at_once: Trials to run in parallel, with --runner local (default: cores / cpus).
        address: Address of a Ray cluster (default: the one this process is part of).
        speed: Operations per second of a core to plan with, in 10^12.
    """
    refuse_early(data=os.path.expandvars(data), encoder=encoder, out=out)
    refuse_store(out)
    left_out = () if without is None else tuple(without.split(","))
    for name in left_out:
        refuse_unknown("without", name, tuple(METHODS))
    from counterpoint.design.design_settings import ENCODER, image_facts
    from counterpoint.evaluation.criteria.measuring import known_criteria

    chosen = tuple(name.strip() for name in criteria.split(","))
    known_criteria(chosen)
    asked: dict[str, Any] = {
        "data": data,
        "seed": seed,
        "candidates": candidates,
        "strategy": strategy,
        "criteria": chosen,
        "labels": labels,
        "watch": () if watch is None else (watch,),
        "labelled": labelled,
        "earlier": earlier,
        "without": left_out,
        "encoder": encoder or ENCODER,
        "size": size,
        "limit": limit,
        "batch": batch_size,
        "cpus": cpus,
    }
    ground = image_facts(data, size=size, limit=limit)
    settings = _settings(asked, ground, Path(out), hours=hours, epochs=full_epochs)
    if plan:
        from counterpoint.design.again import options_of

        again = ["counterpoint", "design", data, "--hours", f"{hours:g}", "--out", out]
        for option, given in (("rounds", rounds), ("halved", halved), ("full-epochs", full_epochs)):
            again += [] if given is None else [f"--{option}", f"{given:g}"]
        again += options_of(settings)
        run = {"runner": runner, "at-once": at_once, "address": address}
        again += chosen_options(run, {"runner": "local"})
        _say_plan(settings, ground, hours, speed * 1e12, rounds, halved)
        last_words("", again)
        return
    _search(
        settings,
        Path(out),
        hours,
        rounds,
        halved,
        runner=runner,
        at_once=at_once,
        address=address,
    )


def _settings(
    asked: dict[str, Any], ground: "ImageFacts", out: Path, *, hours: float, epochs: float | None
) -> "DesignSettings":
    """Return the settings; the length of a trial is that of the search in the folder, if any."""
    from counterpoint.design.design_settings import DesignSettings, epoch_flops, full_flops
    from counterpoint.design.search_files import has_begun, read_settings

    if epochs is None and has_begun(out):
        return DesignSettings(**asked, full=read_settings(out).full)
    epoch = epoch_flops(ground, asked["encoder"], asked["batch"])
    if epochs is None and hours == 0:
        raise ValueError("design: --hours 0 says no length of a trial; give --full-epochs too")
    if epochs is None:
        full = full_flops(epoch, hours=hours, size=asked["candidates"])
    else:
        full = float(f"{epoch * epochs:.1e}")
    return DesignSettings(**asked, full=full)


def _search(
    settings: "DesignSettings",
    out: Path,
    hours: float,
    rounds: int | None,
    halved: int | None,
    *,
    runner: str,
    at_once: int | None,
    address: str | None,
) -> None:
    from contextlib import ExitStack
    from functools import partial

    from counterpoint.design.finish import finish_design
    from counterpoint.design.search_progress import SearchProgress
    from counterpoint.design.search_run import design
    from counterpoint.study.runners.long_lived import LongLived
    from counterpoint.study.runners.run_trials import RunTrials

    with resumable(), ExitStack() as held:
        run: RunTrials
        if runner == "ray":
            from counterpoint.study.runners.ray_tasks import run_ray

            run = partial(run_ray, cpus=settings.cpus, retries=0, address=address)
            cores = settings.cpus
        else:
            workers = held.enter_context(LongLived(cpus=settings.cpus, at_once=at_once))
            run, cores = workers.run, workers.at_once * settings.cpus
        lines = SearchProgress(hours=hours, rounds=rounds, halved=halved, cores=cores, write=_write)
        found = design(
            settings, out, hours=hours, rounds=rounds, halved=halved, run=run, watcher=lines
        )
    report = finish_design(out, found)
    made = f"{len(found.candidates)} candidates, {len(found.outcomes)} trials: {report}"
    last_words(made, ["counterpoint", "confirm", str(out)])


def _write(line: str) -> None:
    sys.stderr.write(line)
    sys.stderr.flush()


def _say_plan(
    settings: "DesignSettings",
    ground: "ImageFacts",
    hours: float,
    speed: float,
    rounds: int | None,
    halved: int | None,
) -> None:
    from counterpoint.design.plan_words import plan_lines

    sys.stdout.write("\n".join(plan_lines(settings, ground, hours, speed, rounds, halved)) + "\n")
