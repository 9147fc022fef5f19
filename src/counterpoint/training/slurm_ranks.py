"""The ranks that srun has started, as Lightning asks for them."""

from collections.abc import Mapping

from lightning.fabric.plugins.environments.cluster_environment import ClusterEnvironment
from lightning.fabric.plugins.environments.lightning import LightningEnvironment

from counterpoint.training.slurm_step import SlurmStep, slurm_step


def environments(environment: Mapping[str, str]) -> list[ClusterEnvironment]:
    """Return who tells Lightning about ranks inside of a SLURM job; elsewhere it looks itself.

    Lightning takes every process of a job for one that srun has started, and then waits for
    the others: a batch script, a shell, a job of one task that starts its own processes. It also
    refuses `srun --ntasks`.
    """
    if "TORCHELASTIC_RUN_ID" in environment or "SLURM_NTASKS" not in environment:
        return []
    step = slurm_step(environment)
    return [LightningEnvironment() if step is None else SlurmRanks(step)]


class SlurmRanks(ClusterEnvironment):
    """One step of a SLURM job. Whether it is queued again is up to the batch script."""

    def __init__(self, step: SlurmStep) -> None:
        super().__init__()
        self.step = step

    @property
    def creates_processes_externally(self) -> bool:
        return True

    @property
    def main_address(self) -> str:
        return self.step.address

    @property
    def main_port(self) -> int:
        return self.step.port

    @staticmethod
    def detect() -> bool:
        return False

    def world_size(self) -> int:
        return self.step.tasks

    def set_world_size(self, size: int) -> None:
        """Leave it to SLURM."""

    def global_rank(self) -> int:
        return self.step.rank

    def set_global_rank(self, rank: int) -> None:
        """Leave it to SLURM."""

    def local_rank(self) -> int:
        return self.step.local_rank

    def node_rank(self) -> int:
        return self.step.node
