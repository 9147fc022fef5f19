"""counterpoint launch ray: the ranks of a run on a Ray cluster, watched from here."""

import shlex
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from counterpoint.cli.last_words import last_words
from counterpoint.cli.resumable import resumable

if TYPE_CHECKING:
    from counterpoint.launch.rank_layout import RankLayout

SHOWN = 1.0  # seconds between two looks at the log of rank 0


def launch_on_ray(layout: "RankLayout", address: str | None, logs: Path, *, show: bool) -> None:
    """Print how a run is started on a Ray cluster, or start it and wait for its end."""
    if show:
        from counterpoint.launch.ray_script import ray_script

        sys.stdout.write(ray_script(layout, address, folder=str(Path.cwd()), logs=str(logs)))
        return
    from counterpoint.launch.ray_ranks import say, train_on_ray

    log = logs / f"{layout.name}-rank-0.log"
    over = threading.Event()
    shown = threading.Thread(target=_follow, args=(log, over), daemon=True)
    shown.start()
    try:
        with resumable():
            train_on_ray(layout, address=address, logs=logs, tell=say)
    finally:
        over.set()
        shown.join(timeout=5)
    run = shlex.join(layout.command[1:])
    last_words(f"{layout.words()} of a Ray cluster have ended {run!r}; logs in {logs}")


def _follow(log: Path, over: threading.Event) -> None:
    """Show what rank 0 says from now on, where its log is on a disk that is seen from here."""
    place = log.stat().st_size if log.exists() else 0
    ended = False
    while not ended:
        ended = over.wait(SHOWN)
        if log.exists():
            with log.open("rb") as file:
                file.seek(place)
                new = file.read()
            place += len(new)
            sys.stderr.write(new.decode(errors="replace"))
            sys.stderr.flush()
