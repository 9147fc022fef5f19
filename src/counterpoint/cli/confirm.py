"""counterpoint confirm."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from counterpoint.cli.early import refuse_early
from counterpoint.cli.last_words import last_words
from counterpoint.cli.resumable import resumable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from counterpoint.design.confirm_run import ConfirmRequest
    from counterpoint.design.confirmed import Compared
    from counterpoint.study.outcome import Outcome
    from counterpoint.study.result_store import ResultStore
    from counterpoint.study.runners.run_trials import RunTrials
    from counterpoint.study.trial import Trial


def confirm_command(
    folder: str,
    *,
    data: str | None = None,
    random: str | None = None,
    top: int = 3,
    seeds: int = 5,
    shipped: int = 3,
    tuned: bool = False,
    runner: Literal["local", "ray"] = "local",
    at_once: int | None = None,
    address: str | None = None,
) -> None:
    """Confirm what a search found: fresh seeds, full length, test images, against shipped methods.

    The best of the search are trained again with seeds that it did not use, and so are their
    rivals: at equal operations and at equal images. This needs labels, and it is the first time
    that test images are read. Each difference has a p that is corrected for all comparisons made.

    Give the same command again at any time: finished trials are kept. With --data the same
    methods are run on other images, and all comparisons are corrected together.

    Example:
        counterpoint confirm runs/design

    Args:
        folder: Folder of a search, from counterpoint design.
        data: Other images to confirm on, with labels (default: the images of the search).
        random: Folder of a random search of the same cost, whose best is a rival (default: none).
        top: Number of candidates to confirm, the best first.
        seeds: Number of fresh seeds.
        shipped: Number of shipped methods to compare with: the best by the linear probe on
            validation images, after a trial of each at full length.
        tuned: Compare with shipped methods whose learning rate was chosen too, on validation images
            among the rates of the search; it takes about ten trials more for each. A search tunes
            what it finds, so this is fair to its rivals. It may be given later.
        runner: "local" runs processes on this machine, "ray" runs tasks on a Ray cluster.
        at_once: Trials to run in parallel, with --runner local (default: cores / those of a trial).
        address: Address of a Ray cluster (default: the one this process is part of).
    """
    for place in filter(None, (folder, random)):
        if not (Path(place) / "design.json").is_file():
            raise FileNotFoundError(
                f"design: {place} has no design.json; counterpoint design writes one"
            )
    if data is not None:
        refuse_early(data=os.path.expandvars(data))
    from counterpoint.design.confirm_run import ConfirmRequest
    from counterpoint.design.confirmed import confirmed_markdown
    from counterpoint.design.finish import finish_design

    asked = ConfirmRequest(
        data=data,
        random=None if random is None else Path(random),
        top=top,
        seeds=seeds,
        shipped=shipped,
        tuned=tuned,
    )
    table, failed = _confirm(Path(folder), asked, runner=runner, at_once=at_once, address=address)
    sys.stdout.write(confirmed_markdown(table))
    report = finish_design(Path(folder))
    last_words(f"{len(table)} comparisons: {report}", aside=True)
    if failed:
        sys.exit(1)


def _confirm(
    folder: Path, asked: "ConfirmRequest", *, runner: str, at_once: int | None, address: str | None
) -> "tuple[list[Compared], int]":
    """Confirm, and return the comparisons and how many trials failed."""
    from functools import partial

    from counterpoint.design.confirm_run import confirm
    from counterpoint.design.confirmation_plan import read_plan
    from counterpoint.design.rivals import HEAT
    from counterpoint.design.search_files import folder_of_earlier, read_design
    from counterpoint.study.dashboard import Progress
    from counterpoint.study.runners.events import Event

    search = read_design(folder)
    if search.waiting and read_plan(folder) is None:
        sys.stderr.write(
            f"{search.waiting} candidates of the last round were not run. The choice is made now, "
            "once: to have them in it, stop here and give counterpoint design more hours\n"
        )
    earlier = search.settings.earlier
    if earlier is not None and folder_of_earlier(search.settings) is None:
        sys.stderr.write(
            f"the earlier search {earlier} is not here: seeds that it chose with may be used, and "
            "what confirmed it is run again. If it exists, stop here and give this command in the "
            "folder where the search was begun\n"
        )
    cpus = search.settings.cpus
    progress = Progress(at_once=at_once or 1)
    run: RunTrials
    if runner == "ray":
        from counterpoint.study.runners.ray_tasks import run_ray

        run = partial(run_ray, cpus=cpus, address=address, tell=progress.tell)
    else:
        from counterpoint.study.runners.local import run_local

        run = partial(run_local, cpus=cpus, at_once=at_once, tell=progress.tell)

    failed = 0

    def told(trials: "Sequence[Trial]", store: "ResultStore") -> "Iterator[Outcome]":
        """Say a line for each trial."""
        nonlocal failed
        places = {trial.data for trial in trials}
        for _, trial in store.planned():  # also those of a later call, on the same images
            if trial.data not in places:
                continue
            if trial.fingerprint not in progress.events and store.find(trial) is None:
                progress.tell(Event(trial, "waiting"))
        for outcome in run(trials, store):
            left = progress.left_seconds() or 0.0
            words = f"{outcome.trial.name}, seed {outcome.trial.seed}: {outcome.state}"
            heat = outcome.trial.column == HEAT  # a rate that diverges is left out there
            failed += outcome.state == "failed" and not heat
            why = f" ({outcome.error})" if outcome.error else ""
            sys.stderr.write(f"{words}{why}, about {left / 60:.0f} min left\n")
            yield outcome

    with resumable():
        return confirm(folder, asked, told), failed
