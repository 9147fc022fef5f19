"""A forecast: what a job takes on so many GPUs of a kind, with all its figures."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from counterpoint.framework.wire import Exchange
from counterpoint.plan.collectives import Collective, Strategy, collectives_of
from counterpoint.plan.equal_nodes import equal_nodes
from counterpoint.plan.goodput import (
    DETECT,
    FAILURES,
    LEAST_SAVE,
    RESTART,
    FailureRate,
    best_interval,
    goodput,
)
from counterpoint.plan.machine import Machine, Taken, time_of
from counterpoint.plan.networks import Network
from counterpoint.plan.rank_memory import memory_parts
from counterpoint.plan.workload import Workload, counts_of, exchanges_for
from counterpoint.training.operator_count import Work

ROOM = 0.9  # of a GPU's memory; the rest is CUDA's own, and gaps between tensors
COPY = 20e9  # bytes a second from a GPU to its host; PCIe 4.0 x16 has 32 GB/s
CORE = 200  # images that a core decodes in a second; our assumption, the doctor measures it


@dataclass(frozen=True)
class Forecast:
    """What one job takes on one cluster.

    >>> from counterpoint import simclr_small, training_of
    >>> from counterpoint.plan.gpus import GPUS
    >>> from counterpoint.plan.networks import NETWORKS
    >>> work = Workload(
    ...     simclr_small(), (3, 32, 32), training_of("simclr-small"), 45_000, 100, "simclr-small"
    ... )
    >>> some = Forecast(work, GPUS["h100"], gpus=8, network=NETWORKS["ndr"])
    >>> some.fits, some.slices
    (True, 1)
    """

    workload: Workload
    machine: Machine
    gpus: int
    network: Network
    strategy: Strategy = "ddp"
    view_seconds: float | None = None
    """Seconds of the views of an image, where they were measured; None counts what a GPU does."""

    @cached_property
    def memory(self) -> dict[str, float]:
        """Bytes of a GPU, by part."""
        whole, alone = counts_of(self.workload, self.gpus)
        return memory_parts(
            whole,
            alone,
            self.exchanges,
            states=self.workload.training.states,
            half=self.workload.half,
            strategy=self.strategy,
        )

    @property
    def fits(self) -> bool:
        return sum(self.memory.values()) <= ROOM * self.machine.memory

    @cached_property
    def exchanges(self) -> tuple[Exchange, ...]:
        """Candidates that each GPU gives to all others for one part of an update."""
        return exchanges_for(self.workload, self.gpus)

    @property
    def slices(self) -> int:
        """In how many slices candidates come, the most of all comparisons."""
        return max((each.slices for each in self.exchanges), default=1)

    @cached_property
    def collectives(self) -> tuple[Collective, ...]:
        """What the ranks exchange for one part of an update."""
        whole, _ = counts_of(self.workload, self.gpus)
        sync = self.workload.training.sync_batchnorm
        return collectives_of(whole, self.exchanges, strategy=self.strategy, sync=sync)

    @cached_property
    def parts(self) -> dict[str, Taken]:
        """Seconds of the parts of an update on one GPU, without the network."""
        count, _ = counts_of(self.workload, self.gpus)
        rates, start = self.machine.rates(half=self.workload.half), self.machine.start
        parts = {
            "views": count.making_views,
            "forward": count.forward,
            "loss": count.loss,
            "backward": count.backward,
        }
        many = self.workload.training.accumulate
        taken = {
            name: time_of({w: n * many for w, n in work.items()}, rates, start)
            for name, work in parts.items()
        }
        if self.view_seconds is not None:
            taken["views"] = Taken(arithmetic=count.images * many * self.view_seconds)
        shares = self.gpus if self.strategy == "fsdp2" else 1
        touched = 4 * count.trained * (4 + 2 * self.workload.training.states) + 12 * count.twin
        update = {Work("in place", 0.0, touched / shares): 1.0}
        return {**taken, "update": time_of(update, rates, start)}

    @cached_property
    def waits(self) -> dict[str, float]:
        """Seconds of an update that the GPUs wait for the network, by what they wait for.

        What can hide behind a part of the step is waited for as far as it takes longer, and the
        last call of it always. What comes once for an update can hide behind its last part.
        """
        many = self.workload.training.accumulate
        _, each = equal_nodes(self.gpus, self.machine.node)
        spare = {name: taken.total for name, taken in self.parts.items()}
        waits: dict[str, float] = {}
        for one in self.collectives:
            times = self.times(one)
            taken = times * one.seconds(
                ranks=self.gpus,
                link=self.machine.link,
                node=each,
                network=self.network,
            )
            room = spare.get(one.behind, 0.0) * times / many
            hidden = min(room, taken * (1 - 1 / one.times))
            if one.behind:
                spare[one.behind] -= hidden
            waits[one.what] = taken - hidden
        return waits

    @property
    def received(self) -> float:
        """Bytes that a rank receives for an update, and as many that it sends."""
        return sum(self.received_of(one) for one in self.collectives)

    def received_of(self, one: Collective) -> float:
        """Return the bytes of one kind of exchange that a rank receives for an update."""
        return self.times(one) * one.received(self.gpus)

    def times(self, one: Collective) -> int:
        """Return how often an exchange is made for an update."""
        return 1 if one.once else self.workload.training.accumulate

    @cached_property
    def step_seconds(self) -> float:
        """Seconds of an update."""
        return sum(taken.total for taken in self.parts.values()) + sum(self.waits.values())

    @property
    def flops(self) -> float:
        """Operations of an update, all GPUs together."""
        count, _ = counts_of(self.workload, self.gpus)
        return count.flops * self.gpus * self.workload.training.accumulate

    @property
    def images_per_second(self) -> float:
        return self.workload.training.batch / self.step_seconds

    @property
    def checkpoint(self) -> float:
        """Bytes of a checkpoint: weights, twin, states of the optimiser, queue or bank."""
        count, _ = counts_of(self.workload, self.gpus)
        numbers = count.trained * (1 + self.workload.training.states) + count.twin
        return 4.0 * (numbers + count.remembered)

    @property
    def save_seconds(self) -> float:
        """Seconds that training waits for a checkpoint: for the copy to the host."""
        shares = self.gpus if self.strategy == "fsdp2" else 1
        return max(LEAST_SAVE, self.checkpoint / shares / COPY)

    @property
    def interval(self) -> float:
        """Proposed seconds between checkpoints: for the worse of the published rates."""
        return best_interval(self.save_seconds, FAILURES[-1].between(self.gpus))

    def goodput(self, rate: FailureRate) -> float:
        """Return the share of the time that is of use, at a rate of failures."""
        restart = DETECT + RESTART
        return goodput(self.interval, self.save_seconds, restart, rate.between(self.gpus))

    @property
    def seconds(self) -> float:
        """Seconds of the whole run, failures and checkpoints included, at the worse rate."""
        return self.workload.steps * self.step_seconds / self.goodput(FAILURES[-1])

    @property
    def gpu_hours(self) -> float:
        return self.seconds / 3600 * self.gpus

    def failures(self, rate: FailureRate) -> float:
        """Return the failures to expect in the whole run."""
        return self.seconds / rate.between(self.gpus)

    @property
    def read(self) -> float:
        """Bytes a second that all GPUs together read of the data."""
        return self.images_per_second * self.workload.image_bytes

    @property
    def cores(self) -> float:
        """Cores for each GPU that decode its images."""
        return self.images_per_second / self.gpus / CORE

    def to_dict(self) -> dict[str, Any]:
        """Return all figures as plain data: bytes, seconds, and shares of 1."""
        return {
            "workload": self.workload.to_dict(),
            "gpu": self.machine.name,
            "gpu source": self.machine.source,
            "gpus": self.gpus,
            "network": self.network.name,
            "network source": self.network.source,
            "strategy": self.strategy,
            "slices": self.slices,
            "memory": self.memory,
            "memory of the GPU": self.machine.memory,
            "fits": self.fits,
            "step": {name: taken.total for name, taken in self.parts.items()},
            "network waits": self.waits,
            "step seconds": self.step_seconds,
            "operations a step": self.flops,
            "bytes received by a rank": {
                one.what: self.received_of(one) for one in self.collectives
            },
            "images per second": self.images_per_second,
            "seconds": self.seconds,
            "GPU hours": self.gpu_hours,
            "checkpoint bytes": self.checkpoint,
            "checkpoint interval": self.interval,
            "goodput": {rate.name: self.goodput(rate) for rate in FAILURES},
            "failures": {rate.name: self.failures(rate) for rate in FAILURES},
            "data bytes per second": self.read,
            "cores per GPU": self.cores,
        }
