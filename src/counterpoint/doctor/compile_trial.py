"""Whether compiling pays, tried in a process of its own: it may take minutes, and is ended then."""

import json
import re
import subprocess
import sys
from dataclasses import asdict
from typing import Any

import torch

from counterpoint.data import ArraySource
from counterpoint.doctor.alternatives import Alternative
from counterpoint.doctor.measurement import race, racer, some_batches
from counterpoint.framework import Method, Model
from counterpoint.framework.settings import Precision, Training
from counterpoint.job_record import read_training
from counterpoint.methods import read_method
from counterpoint.training.small_maps import multiply_where_faster

STEPS = 5.0  # seconds of steps after the warm-up
CAUSE = re.compile(r"^(?:\w+\.)*(\w*(?:Error|Exception): .*)$", re.MULTILINE)


def try_compiling(
    method: Method,
    image: tuple[int, ...],
    training: Training,
    *,
    batch: int,
    precision: Precision,
    seconds: float,
) -> tuple[Alternative, Alternative] | None:
    """Measure a way as it is and compiled, on noise; None where the time is not enough.

    torch.compile cannot be interrupted, so that another process does it, and is ended. Where it
    fails, a RuntimeError says why: more time would not help.
    """
    asked = {
        "method": method.to_json(),
        "image": image,
        "training": asdict(training),
        "batch": batch,
        "precision": precision,
        "threads": torch.get_num_threads(),
    }
    try:
        done = subprocess.run(
            [sys.executable, "-m", "counterpoint.doctor.compile_trial"],
            input=json.dumps(asked),
            capture_output=True,
            text=True,
            timeout=seconds,
            check=True,
        )
    except subprocess.TimeoutExpired:
        return None
    except subprocess.CalledProcessError as error:  # no compiler, for one
        causes = CAUSE.findall(error.stderr) or [f"its process ended with {error.returncode}"]
        raise RuntimeError(causes[-1]) from error
    plain, other = (_read(each) for each in json.loads(done.stdout.splitlines()[-1]))
    return plain, other


def measured_pair(asked: dict[str, Any]) -> list[dict[str, Any]]:
    """Measure both ways in this process."""
    torch.set_num_threads(asked["threads"])
    method, image = read_method(asked["method"]), tuple(asked["image"])
    training, precision = read_training(asked["training"]), asked["precision"]
    generator = torch.Generator().manual_seed(0)
    pixels = torch.randint(
        256, (2 * asked["batch"], *image), dtype=torch.uint8, generator=generator
    )
    noise = ArraySource("noise", pixels)

    def build() -> Model:
        torch.manual_seed(0)
        model = method.build(image=image)
        multiply_where_faster(model, precision)
        return model

    batches = some_batches(build(), noise, batch=asked["batch"], count=2, workers=0)
    ways = [
        racer(build, training, batches, noise, precision=precision, compile=compile)
        for compile in (False, True)  # noqa: A001 (as in Training)
    ]
    return [asdict(way) for way in race(ways, seconds=STEPS)]


def _read(record: dict[str, Any]) -> Alternative:
    lists = {name: tuple(value) for name, value in record.items() if isinstance(value, list)}
    return Alternative(**{**record, **lists})


if __name__ == "__main__":
    sys.stdout.write(json.dumps(measured_pair(json.load(sys.stdin))) + "\n")
