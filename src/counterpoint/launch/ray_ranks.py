"""A run on a Ray cluster: the same command as tasks, one process each, started again as a whole.

Ray gives slots and says when a node is lost; the ranks find each other as under torchrun. Nothing
else of Ray's is used: a lost rank takes part in every loss, so that all ranks start again, from the
newest checkpoint, where the cluster has room for all of them.
"""

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterpoint.failures import RunFailure
from counterpoint.launch.rank_layout import RankLayout
from counterpoint.launch.ray_worker import free_address, run_rank
from counterpoint.ray_connection import joined_ray, worker_environment

TICK = 1.0  # seconds between two looks
ROOM = 30.0  # seconds between two words on room that is missing
ENDING = 60.0  # seconds in which the other ranks notice a loss themselves
STOPPING = 600.0  # seconds for the checkpoint of a run that is told to stop
PAUSE = 10.0  # seconds before the next attempt: Ray notices that a node is lost
LASTING = 600.0  # seconds of training after which a failure is not one in a row
PASSED = ("NCCL_", "GLOO_", "TORCH_", "COUNTERPOINT_")
"""Variables of this process that the ranks get; the others are those of the nodes."""

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Ended:
    """How an attempt ended: the exit code of the rank that ended it, and why."""

    code: int
    why: str


def train_on_ray(
    layout: RankLayout, *, address: str | None, logs: Path, tell: Tell, pause: float = PAUSE
) -> None:
    """Train on the slots of a cluster until the run has ended, or failed too often in a row."""
    ray = joined_ray(address, what="launch")
    failures = 0
    while True:
        began = time.monotonic()
        ended = _attempt(ray, layout, logs, tell)
        if ended.code == 0:
            return
        if time.monotonic() - began > LASTING:
            failures = 0
        failures += 1
        if failures > layout.restarts:
            raise RunFailure(
                f"launch: {ended.why}; {layout.restarts} restarts did not help: see {logs}, and "
                "give the same command again to resume"
            )
        tell(f"{ended.why}; restart {failures} of {layout.restarts} from the newest checkpoint")
        time.sleep(pause)


def _attempt(ray: Any, layout: RankLayout, logs: Path, tell: Tell) -> Ended:
    """Start all ranks and wait for them; the first that fails ends all."""
    from ray.util.placement_group import placement_group, remove_placement_group

    slot = {"CPU": layout.cpus or 1} | ({"GPU": 1} if layout.gpus else {})
    group = placement_group([slot] * layout.ranks, strategy="PACK")
    try:
        _wait_for_room(ray, group, layout, tell)
        try:
            places = _places(ray, group, layout)
        except ray.exceptions.RayError as error:
            return Ended(1, f"a node was lost before training began ({_line(error)})")
        here = os.fspath(Path.cwd())
        passed = {name: text for name, text in os.environ.items() if name.startswith(PASSED)}
        words = list(layout.command[1:])
        tasks = [
            _in_slot(ray, run_rank, layout, group, bundle).remote(
                words, passed | variables, os.fspath(log), here, STOPPING
            )
            for bundle, variables, log in places_of(places, layout, logs.absolute())
        ]
        tell(f"{layout.ranks} processes on {len({one[1] for one in places})} nodes; log in {logs}")
        try:
            return _watched(ray, tasks)
        except BaseException:  # Ctrl-C, or SIGTERM: the ranks write a checkpoint
            tell("stopping after this step")
            _end(ray, tasks, STOPPING)
            raise
    finally:
        remove_placement_group(group)


def _wait_for_room(ray: Any, group: Any, layout: RankLayout, tell: Tell) -> None:
    """Wait until the cluster has a slot for each rank; say so now and then."""
    said = 0.0
    while not ray.wait([group.ready()], timeout=TICK)[0]:
        if time.monotonic() - said > ROOM:
            said = time.monotonic()
            has = ray.available_resources()
            free = f"{has.get('CPU', 0):g} cores and {has.get('GPU', 0):g} GPUs"
            each = f"{layout.cpus or 1} cores" + (" and a GPU" if layout.gpus else "")
            tell(f"waiting for {layout.ranks} slots of {each}; the cluster has {free} free")


def _places(ray: Any, group: Any, layout: RankLayout) -> list[tuple[int, str, str, int]]:
    """Ask each slot for its node, address and a free port; those of a node stand together."""
    asked = [
        _in_slot(ray, free_address, layout, group, bundle).remote()
        for bundle in range(layout.ranks)
    ]
    found = [(bundle, *place) for bundle, place in enumerate(ray.get(asked))]
    return sorted(found, key=lambda one: (one[1], one[0]))


def places_of(
    places: Sequence[tuple[int, str, str, int]], layout: RankLayout, logs: Path
) -> list[tuple[int, dict[str, str], Path]]:
    """Return slot, variables and log of each rank; rank 0 listens on the first node.

    Ray shows each process its own GPU as the only one, so each is a machine of its own.

    >>> layout = RankLayout(name="photos", command=("counterpoint", "pretrain"), nodes=2)
    >>> places = [(1, "a", "10.0.0.1", 2000), (0, "b", "10.0.0.2", 2000)]
    >>> slot, variables, log = places_of(places, layout, Path("logs"))[1]
    >>> slot, variables["RANK"], variables["MASTER_ADDR"], log.name
    (0, '1', '10.0.0.1', 'photos-rank-1.log')
    """
    _, _, address, port = places[0]
    nodes = [node for _, node, _, _ in places]
    shared = {
        "TORCHELASTIC_RUN_ID": layout.name,
        "MASTER_ADDR": address,
        "MASTER_PORT": str(port),
        "WORLD_SIZE": str(len(places)),
        "LOCAL_RANK": "0",
        "LOCAL_WORLD_SIZE": "1",
    }
    return [
        (
            bundle,
            shared
            | {"RANK": str(rank), "GROUP_RANK": str(rank)}
            | {"COUNTERPOINT_LOCAL_RANKS": str(nodes.count(node))},
            logs / f"{layout.name}-rank-{rank}.log",
        )
        for rank, (bundle, node, _, _) in enumerate(places)
    ]


def _watched(ray: Any, tasks: Sequence[Any]) -> Ended:
    """Wait for all ranks, or for the first that fails; then nobody is left."""
    left, names = list(tasks), {task: rank for rank, task in enumerate(tasks)}
    while left:
        ready, left = ray.wait(left, num_returns=1, timeout=TICK)
        for task in ready:
            try:
                code = int(ray.get(task))
                why = f"rank {names[task]} ended with exit code {code}"
            except ray.exceptions.RayError as error:
                code, why = 1, f"rank {names[task]} was lost ({_line(error)})"
            if code != 0:
                _end(ray, left, ENDING)
                return Ended(code, why)
    return Ended(0, "")


def _end(ray: Any, tasks: Sequence[Any], seconds: float) -> None:
    """Tell ranks to stop, wait for them, and kill those that do not."""
    left = list(tasks)
    for task in left:
        ray.cancel(task, force=False)
    if left:
        _, left = ray.wait(left, num_returns=len(left), timeout=seconds)
    for task in left:
        ray.cancel(task, force=True)


def _in_slot(
    ray: Any, function: Callable[..., Any], layout: RankLayout, group: Any, bundle: int
) -> Any:
    """Make a task of a function that runs in one slot of the group, and is not tried again."""
    from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy

    cpus = layout.cpus or 1
    return ray.remote(function).options(
        num_cpus=cpus,
        num_gpus=1 if layout.gpus else 0,
        max_retries=0,
        runtime_env=worker_environment(cpus),
        scheduling_strategy=PlacementGroupSchedulingStrategy(
            group, placement_group_bundle_index=bundle
        ),
    )


def _line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__


def say(line: str) -> None:
    """Tell a person, beside the output."""
    sys.stderr.write(f"launch  {line}\n")
    sys.stderr.flush()
