"""Precision, batch and compiling, measured on this machine within some seconds."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from counterpoint.doctor.alternatives import Alternative, WayVerdict, decide
from counterpoint.doctor.compile_trial import try_compiling
from counterpoint.doctor.measurement import Racer, race, racer, some_batches
from counterpoint.framework.settings import Precision
from counterpoint.job import Job
from counterpoint.pretraining import built_model

SIZES = 3  # batch sizes that are compared
LONG = 1.5  # seconds: larger batches, whose steps would take longer, are not measured
READ = 4  # batches that are read, and used again and again
LASTS = 1800  # seconds: a shorter run is not worth compiling, whose warm-up takes a minute or two

Tell = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class WayComparison:
    """What was measured, and what follows from it."""

    verdicts: tuple[WayVerdict, ...]
    precision: Precision
    compile: bool
    batch: int | None
    """A smaller batch than the method's own, where that is much faster."""
    note: str
    """About compiling, where it was not measured."""

    @property
    def gain(self) -> float:
        """How many times as fast the chosen way is as fp32, at the same batch."""
        first = self.verdicts[0].way
        same = [v.way.speed for v in self.verdicts if v.way.batch == first.batch and v.taken]
        return max(same, default=first.speed) / first.speed


def compare_ways(
    job: Job, *, small: int, seconds: float, planned: Callable[[float], int], tell: Tell
) -> WayComparison:
    """Measure fp32 and bf16, some batch sizes, and compiling where the run is long enough.

    `small` is the batch to begin with; `planned` says how many images a run would see at a speed.
    """
    tell(f"precision, at {small} images a step")
    racers = [_ready(job, small, "32-true"), _ready(job, small, "bf16-mixed")]
    fp32, bf16 = race(racers, seconds=seconds / 4)
    images = planned(fp32.speed)
    precise = decide(fp32, [bf16], images=images)
    best = next(verdict.way for verdict in precise if verdict.taken)
    by_batch = _by_batch(job, racers[precise[1].taken], best, images, seconds / 4, tell)
    lasts = images / best.speed
    note, by_compiling = "", list[WayVerdict]()
    if lasts < LASTS:
        note = f"compiling was not measured: a run of {lasts / 60:.0f} minutes is too short for it"
    else:
        tell(f"compiling, for at most {seconds / 2:.0f} s")
        try:
            pair = try_compiling(
                job.method,
                job.image,
                job.training,
                batch=small,
                precision=best.precision,
                seconds=seconds / 2,
            )
        except RuntimeError as error:
            note = f"compiling does not work here: {error}"
        else:
            note = f"compiling was not done after {seconds / 2:.0f} s; --seconds 600 measures it"
            if pair is not None:
                note = ""
                by_compiling = decide(pair[0], [pair[1]], images=planned(pair[0].speed))[1:]
    fewer = next((v.way.batch for v in by_batch[1:] if v.taken), None)
    return WayComparison(
        (*precise, *by_batch, *by_compiling),
        best.precision,
        any(verdict.taken for verdict in by_compiling),
        fewer,
        note,
    )


def _by_batch(
    job: Job, ready: Racer, best: Alternative, images: int, seconds: float, tell: Tell
) -> list[WayVerdict]:
    """Compare batch sizes; the largest, with the most negatives, is the safe choice."""
    sizes = _sizes(best.batch, best, job.training.batch)
    if len(sizes) == 1:
        return []
    tell(f"batches of {', '.join(map(str, sizes))} images")
    more = [_ready(job, size, best.precision) for size in sizes[1:]]
    *smaller, largest = race([ready, *more], seconds=seconds)
    return decide(largest, smaller[::-1], images=images)


def _ready(job: Job, batch: int, precision: Precision) -> Racer:
    batches = some_batches(
        job.method.build(image=job.image), job.source, batch=batch, count=READ, workers=job.workers
    )
    training = replace(job.training, precision=precision)
    trained = replace(job, training=training)
    return racer(lambda: built_model(trained), training, batches, job.source, precision=precision)


def _sizes(small: int, way: Alternative, most: int) -> list[int]:
    """Return batch sizes from a small one on, as long as a step of them stays short.

    >>> _sizes(16, Alternative(16, seconds=(0.2, 0.2)), 256)
    [16, 32, 64]
    >>> _sizes(16, Alternative(16, seconds=(0.6, 0.6)), 256)
    [16, 32]
    """
    doubled = (small << number for number in range(SIZES))
    return [
        size for size in doubled if size == small or (size <= most and size / way.speed <= LONG)
    ]
