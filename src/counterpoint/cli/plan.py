"""counterpoint plan."""

import sys
from typing import TYPE_CHECKING, Any, Literal

from counterpoint.catalogue import GPUS, NETWORKS
from counterpoint.cli.early import refuse_early, refuse_no_file, refuse_unknown
from counterpoint.cli.last_words import last_words

if TYPE_CHECKING:
    from counterpoint.plan.forecast import Forecast
    from counterpoint.plan.workload import Workload

SIDE = 224  # pixels of images that nobody has yet


def plan_command(
    data: str | None = None,
    *,
    images: int | None = None,
    method: str = "simclr",
    encoder: str | None = None,
    size: int | None = None,
    gpus: int | None = None,
    gpu: str = "h100",
    here: bool = False,
    network: str = "ndr",
    price: float | None = None,
    batch_size: int | None = None,
    accumulate: int | None = None,
    epochs: int | None = None,
    precision: Literal["32-true", "bf16-mixed"] | None = None,
    strategy: Literal["ddp", "fsdp2"] = "ddp",
    slice_megabytes: float | None = None,
    compare: str | None = None,
    kilobytes: float | None = None,
    json: str | None = None,
) -> None:
    """Say what a run would take on GPUs that you do not have yet: time, memory, cost, failures.

    Nothing is trained, and no GPU is needed: a step is counted from the real modules, and timed
    by the public figures of a GPU. Give DATA, or --images N.

    Example:
        counterpoint plan --images 1281167 --encoder resnet50 --gpus 64 --price 3

    Args:
        data: Folder, file or address of images (default: --images of 224 pixels).
        images: Number of images, where there are none yet (default: those of DATA).
        method: Name of a method, or a .json file.
        encoder: Encoder in the place of the method's (default: the method's own).
        size: Side of the views in pixels (default: 224, or that of DATA).
        gpus: Number of GPUs; more than 8 have to fill nodes equally (default: 8; 1 with --here).
        gpu: GPU: b200, h200, h100, a100, a100-40, l40s, a10, l4, v100 or rtx4090.
        here: Measure this machine for some seconds, and plan one process on it.
        network: Network between nodes: ndr, hdr, ethernet-400, ethernet-100 or ethernet-25.
        price: Price of a GPU for an hour (default: none).
        batch_size: Images per update over all GPUs (default: the recipe's).
        accumulate: Parts that a batch is worked through in (default: the recipe's).
        epochs: Passes over the images (default: the recipe's).
        precision: 32-true or bf16-mixed (default: the recipe's).
        strategy: How the model is divided over GPUs.
        slice_megabytes: Candidates of all GPUs that come at once, in MB (default: 64).
        compare: Alternatives to show side by side: ddp,fsdp2, names of GPUs (h100,b200), numbers
            of GPUs (1,8,64), or batch, gpus or slices for smaller and larger (default: none).
        kilobytes: Size of an image file (default: 108, ImageNet's).
        json: File to write all figures to, for programs (default: none).
    """
    refuse_unknown("gpu", gpu, GPUS)
    refuse_unknown("network", network, NETWORKS)
    refuse_early(data=data, method=method, encoder=encoder)
    if json is not None:
        refuse_no_file("json", json)
    if (data is None) == (images is None):
        raise ValueError("plan: needs DATA or --images N, and not both")
    count = (1 if here else 8) if gpus is None else gpus
    if count < 1 or (here and count > 1):
        raise ValueError(f"--gpus is {count}; it needs to be 1 or more, and 1 with --here")
    from counterpoint.plan.equal_nodes import equal_nodes
    from counterpoint.plan.forecast import Forecast
    from counterpoint.plan.gpus import GPUS as FIGURES
    from counterpoint.plan.networks import NETWORKS as LINES

    equal_nodes(count, FIGURES[gpu].node)  # refused before anything is counted
    changes: dict[str, Any] = {
        "batch": batch_size,
        "accumulate": accumulate,
        "precision": precision,
    }
    changes |= {"slice_megabytes": slice_megabytes}
    load = _workload(data, images, method, encoder, size, epochs, changes, kilobytes)
    plan = Forecast(load, FIGURES[gpu], count, LINES[network], strategy)
    plan = _here(plan) if here else plan
    _say(plan, compare, price)
    if json is not None:
        from json import dumps
        from pathlib import Path

        Path(json).write_text(dumps(plan.to_dict(), indent=2) + "\n")
    made = "" if json is None else f"figures: {json}"
    last_words(made, _next(plan, data, method, encoder, size))


def _here(plan: "Forecast") -> "Forecast":
    """Put the rates of this machine in the place of a GPU's."""
    from dataclasses import replace

    from counterpoint.plan.here import measured_machine, views_seconds

    sys.stderr.write("measure this machine, for some seconds\n")
    load = plan.workload
    seconds = views_seconds(load.method.build(image=load.image), load.image)
    return replace(plan, machine=measured_machine(), view_seconds=seconds)


def _workload(
    data: str | None,
    images: int | None,
    method: str,
    encoder: str | None,
    size: int | None,
    epochs: int | None,
    changes: dict[str, Any],
    kilobytes: float | None,
) -> "Workload":
    from counterpoint.plan.workload import PHOTO, Workload, absent_images
    from counterpoint.resolve import resolve

    given = {name: value for name, value in changes.items() if value is not None}
    source = absent_images(images or 0, size or SIDE) if data is None else data
    job = resolve(method, source, encoder=encoder, size=size, epochs=epochs, changes=given)
    named = job.name or "a method of your own"
    return Workload(
        method=job.method,
        image=job.image,
        training=job.training,
        images=len(job.source),
        steps=job.steps,
        name=f"{named}, {encoder}" if encoder else named,
        image_bytes=PHOTO if kilobytes is None else 1e3 * kilobytes,
    )


def _say(plan: "Forecast", compare: str | None, price: float | None) -> None:
    from counterpoint.plan.alternative_plans import alternative_plans
    from counterpoint.plan.plan_page import comparison, plan_page

    lines = plan_page(plan, price=price)
    if compare is not None:
        named = alternative_plans(plan, compare)
        lines += ["", *comparison([*named.values()], [*named], price=price)]
    sys.stdout.write("\n".join(lines) + "\n")


def _next(
    plan: "Forecast", data: str | None, method: str, encoder: str | None, size: int | None
) -> list[str]:
    """Return the command that trains as planned."""
    from counterpoint.plan.equal_nodes import equal_nodes

    training = plan.workload.training
    nodes, each = equal_nodes(plan.gpus, plan.machine.node)
    words = ["pretrain", data or "DATA", "--method", method]
    words += [] if encoder is None else ["--encoder", encoder]
    side = SIDE if (data, size) == (None, None) else size
    words += [] if side is None else ["--size", str(side)]
    words += ["--epochs", str(training.epochs), "--batch-size", str(training.batch)]
    words += ["--accumulate", str(training.accumulate)] if training.accumulate > 1 else []
    words += ["--precision", training.precision, "--save-seconds", f"{plan.interval:.0f}"]
    words += ["--strategy", "fsdp2"] if plan.strategy == "fsdp2" else []
    if training.slice_megabytes is not None:
        words += ["--slice-megabytes", f"{training.slice_megabytes:g}"]
    words += ["--out", "RUN"]
    if nodes > 1:
        launch = ["launch", "slurm", "--nodes", str(nodes), "--gpus-per-node", str(each)]
        return ["counterpoint", *launch, *words]
    return ["counterpoint", *words, "--devices", str(plan.gpus)]
