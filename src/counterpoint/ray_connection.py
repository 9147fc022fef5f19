"""A Ray cluster: how it is joined, how much room it has, and what its workers begin with."""

import os
import socket
from contextlib import chdir
from typing import Any

from counterpoint.failures import RunFailure

PATIENCE = 10.0  # seconds for an address to answer; Ray itself tries for two minutes


def joined_ray(address: str | None = None, *, what: str) -> Any:
    """Import Ray, which is an extra, and join a cluster; `what` is who asks.

    `address` is that of a cluster; none joins the one around this process, or starts one here.
    """
    try:
        import ray
    except ImportError as error:
        raise ValueError(
            f"{what}: Ray is not installed; pip install 'counterpoint[ray]', or --runner local"
        ) from error
    if not ray.is_initialized():
        # Ray puts our current folder first on the path of every worker: a torch.py in it would
        # be run there. The folder of everybody has none.
        place = address or os.environ.get("RAY_ADDRESS")
        try:
            _reach(place)
            with chdir("/"):
                ray.init(address=place, log_to_driver=False)
        except Exception as error:  # Ray raises the plain class where a node does not start
            raise RunFailure(
                f"{what}: Ray cannot be joined at {place or 'this machine'}: {error}; "
                "`ray status` says whether the cluster lives"
            ) from error
    return ray


def _reach(place: str | None) -> None:
    """Raise OSError where an address of the form HOST:PORT does not answer.

    Ray's words such as "auto" have no port and are left to Ray.
    """
    host, _, port = (place or "").removeprefix("ray://").rpartition(":")
    if host and port.isdigit():
        socket.create_connection((host.strip("[]"), int(port)), timeout=PATIENCE).close()


def room_on(ray: Any, cpus: int, gpus: float) -> int:
    """Count the tasks that the nodes which live now can hold at once; one at least."""
    room = 0
    for node in ray.nodes():
        if node["Alive"]:
            has = node["Resources"]
            slots = [int(has.get("CPU", 0) // cpus)]
            if gpus:
                slots.append(int(has.get("GPU", 0) / gpus))
            room += min(slots)
    return max(1, room)


def worker_environment(cpus: int) -> dict[str, Any]:
    """Set the threads of a worker to its cores: sums are then the same wherever it runs."""
    return {"env_vars": {"OMP_NUM_THREADS": str(cpus), "PYTHONSAFEPATH": "1"}}
