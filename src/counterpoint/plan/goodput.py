r"""How often ranks fail, how often to save, and which share of the time is of use."""

from dataclasses import dataclass
from math import sqrt

DETECT = 120.0  # seconds until the watchdog ends a run that does not move: run_options.PATIENCE
RESTART = 60.0  # seconds to start the processes, torch and the data again; our assumption
LEAST_SAVE = 1.0  # seconds that training waits for a checkpoint at least; our assumption


@dataclass(frozen=True, slots=True)
class FailureRate:
    """How long GPUs run until one of them ends the job."""

    name: str
    gpu_hours: float
    source: str

    def between(self, gpus: int) -> float:
        """Return the seconds between two failures of a job, if failures are independent."""
        return self.gpu_hours * 3600 / gpus


FAILURES = (
    FailureRate(
        "Llama 3",
        16_384 * 54 * 24 / 419,
        "Grattafiori et al. 2024, section 3.3.4: 419 unexpected interruptions of 16,384 H100 in "
        "54 days",
    ),
    FailureRate(
        "OPT-175B",
        992 * 7.5,
        "Zhang et al. 2022: 992 A100; 7.5 h between failures is as others quote it",
    ),
)
"""Published rates; the second is seven times the first, and is what intervals are proposed for."""


def best_interval(save: float, between: float) -> float:
    r"""Return the seconds between checkpoints that lose the least.

    $$ \tau = \sqrt{2 d M} $$

    (Young 1974) with d seconds that training waits for a checkpoint and M between failures.

    >>> round(best_interval(1.0, 7.5 * 3600))
    232
    """
    return sqrt(2 * save * between)


def goodput(interval: float, save: float, restart: float, between: float) -> float:
    r"""Return the share of the time that steps take which are not lost.

    $$ \frac{\tau}{\tau + d} \cdot \frac{1}{1 + (R + (\tau + d) / 2) / M} $$

    A failure costs R, to find it and start again, and half of an interval (Daly 2006, first order).

    >>> round(goodput(232, 1.0, 180.0, 7.5 * 3600), 4)
    0.9849
    """
    kept = interval / (interval + save)
    return kept / (1 + (restart + (interval + save) / 2) / between)
