"""The command line. Nothing heavy is imported before a command runs."""

import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from jsonargparse import ArgumentParser


def pretrain_command(
    data: str,
    *,
    out: str,
    method: str = "simclr",
    encoder: str | None = None,
    size: int | None = None,
    epochs: int | None = None,
    batch_size: int | None = None,
    optimiser: Literal["lars", "sgd", "adam"] | None = None,
    lr: float | None = None,
    weight_decay: float | None = None,
    seed: int = 0,
    steps: int | None = None,
    limit: int | None = None,
    precision: Literal["32-true", "bf16-mixed"] = "32-true",
    compile: bool = False,  # noqa: A002 (the flag people know)
    devices: int = 1,
    workers: int | None = None,
    parts: str | None = None,
    logger: Literal["csv", "tensorboard", "wandb"] = "csv",
) -> None:
    """Train an encoder on images without labels.

    Options that are not given are the method's own (`counterpoint methods`).

    Args:
        data: Folder of the images.
        out: Folder to write the run to.
        method: Name of a method (`counterpoint methods` lists them) or a method.json.
        encoder: A torchvision ResNet, small, or timm/NAME; the method's own if not given.
        size: Side of the views of image files, in pixels; 128 if not given.
        epochs: Passes over the images.
        batch_size: Images per step, over all devices.
        optimiser: LARS, SGD or AdamW.
        lr: Learning rate per 256 images.
        weight_decay: Weight decay, not for biases and norms.
        seed: Seed of weights, order and views.
        steps: Stop after so many steps, with the schedule fitted to them.
        limit: Only the first so many images.
        precision: Numbers to train in; scores and losses are always fp32.
        compile: Compile the encoder with torch.compile.
        devices: Processes to train on.
        workers: Processes that read image files; one per core if not given.
        parts: Python file with parts of your own that a method.json names; it is run.
        logger: Where metrics go; wandb stays offline.
    """
    from dataclasses import replace

    from counterpoint.data import image_shape, open_data
    from counterpoint.methods import named, training_of
    from counterpoint.pretraining import pretrain
    from counterpoint.training.loggers import logger_named

    asked = {
        "epochs": epochs,
        "batch": batch_size,
        "optimiser": optimiser,
        "lr": lr,
        "weight_decay": weight_decay,
    }
    given: dict[str, Any] = {name: value for name, value in asked.items() if value is not None}
    own = training_of(method)
    settings = replace(own, seed=seed, precision=precision, compile=compile, **given)
    splits = open_data(data, limit=limit)
    side = image_shape(splits.train, size=size)[-1]
    chosen = named(method, encoder=encoder, size=side, parts=_own(parts))
    pretrain(
        chosen,
        splits,
        out=out,
        training=settings,
        steps=steps,
        size=size,
        workers=workers,
        loggers=[logger_named(logger, Path(out))],
        devices=devices,
    )


def evaluate_command(
    folder: str,
    *,
    data: str,
    protocol: str = "knn,linear,mlp",
    labels: str = "1",
    seeds: int = 1,
    seed: int = 0,
    map: int | None = None,  # noqa: A002 (the paper's word)
    limit: int | None = None,
) -> None:
    """Measure a run's encoder: chosen on validation images, scored once on test images.

    Args:
        folder: Folder of the run.
        data: Folder of the images, with labels.
        protocol: Any of knn, linear, mlp and finetune, with commas between.
        labels: Shares of the training labels, such as 0.01,0.1,1.
        seeds: How often to repeat what has chance in it.
        seed: The first of these seeds.
        map: Feature map to probe, -1 is the last; the last before a projection head if not given.
        limit: Only the first so many images of each split, for a quick look.
    """
    from rich.console import Console

    from counterpoint.data import open_data
    from counterpoint.report.probe_table import probe_table
    from counterpoint.run import Run

    result = Run.open(folder).evaluate(
        open_data(data, limit=limit),
        probes=[name.strip() for name in protocol.split(",")],
        fractions=[float(share) for share in labels.split(",")],
        seeds=seeds,
        seed=seed,
        map=map,
    )
    Console().print(probe_table(result, title=folder))


def views_command(
    data: str,
    *,
    method: str = "simclr",
    out: str = "views.png",
    images: int = 6,
    epochs: int = 2,
    size: int | None = None,
    seed: int = 0,
) -> None:
    """Print a contact sheet: images, the views that a method draws of them, and how.

    Args:
        data: Folder of the images.
        method: Name of a method, or a method.json.
        out: Picture to write, a PNG by its name, or another format.
        images: How many images, drawn from all of them.
        epochs: How many epochs' views of each.
        size: Side of the views of image files, in pixels; 128 if not given.
        seed: Seed of the views and of the choice of images.
    """
    from rich.console import Console

    from counterpoint.data import image_shape, open_data, sample_images
    from counterpoint.methods import views_named
    from counterpoint.report import contact_sheet

    source = open_data(data).train
    side = image_shape(source, size=size)[-1]
    views = views_named(method, size=side)
    some = sample_images(source, images, seed=seed)
    title = f"{method}: views of {source.name}, {side} pixels"
    sheet = contact_sheet(views, some, title=title, seed=seed, epochs=epochs)
    sheet.save(out, optimize=True)
    Console().print(f"{views}\n{len(some)} images, {epochs} epochs: [bold]{out}[/]")


def check_command(
    method: str, *, size: int = 32, batch_size: int = 16, parts: str | None = None
) -> None:
    """Check a composition: gradients, precision, ranks, learning, size and cost.

    Args:
        method: Name of a method, or a method.json.
        size: Side of the images in pixels.
        batch_size: Images in the batch that is tried.
        parts: Python file with parts of your own that the method.json names; it is run.
    """
    from rich.console import Console
    from rich.table import Table

    from counterpoint.checking import check
    from counterpoint.methods import named

    console = Console()
    chosen = named(method, size=size, parts=_own(parts))
    table = Table("", "check", "found", title=f"check {method}", title_justify="left")
    well = True
    with console.status("checking ..."):
        for verdict in check(chosen, (3, size, size), count=batch_size, parts=parts):
            mark = "[green]ok[/]" if verdict.well else "[bold red]no[/]"
            table.add_row(mark, verdict.name, verdict.found)
            well = well and verdict.well
    console.print(str(chosen), highlight=False, soft_wrap=True)
    console.print(table)
    sys.exit(0 if well else 1)


def methods_command() -> None:
    """List the methods."""
    from rich.console import Console

    from counterpoint.methods import METHODS

    for name, compose in METHODS.items():
        summary = (compose.__doc__ or "").strip().splitlines()[0]
        Console().print(f"[bold]{name}[/]  {summary}")


def anatomy_command(names: list[str], *, size: int = 32) -> None:
    """Show the five parts of a method, or of several side by side; of all seven by `all`.

    Args:
        names: One or more methods; where they differ is in colour.
        size: Side of the images in pixels.
    """
    from rich.console import Console
    from rich.table import Table

    from counterpoint.methods import SEVEN, named

    names = SEVEN if names == ["all"] else names
    chosen = [named(n, size=size) for n in names]
    rows = list(zip(*(method.rows() for method in chosen), strict=True))
    console = Console()
    if len(names) > 3:  # beside each other they would be too narrow to read
        table = Table("part", "method", "settings", title_justify="left")
        for number, row in enumerate(rows, start=1):
            for place, (name, (part, settings)) in enumerate(zip(names, row, strict=True)):
                heading = "" if place else f"({number}) {part}"
                table.add_row(heading, name, settings, end_section=place == len(names) - 1)
        console.print(table)
        return
    table = Table("part", *names, title_justify="left")
    for number, row in enumerate(rows, start=1):
        cells = [settings for _, settings in row]
        style = "bold yellow" if len(set(cells)) > 1 else None
        table.add_row(f"({number}) {row[0][0]}", *cells, style=style)
    console.print(table)


COMMANDS: dict[str, Callable[..., None]] = {
    "pretrain": pretrain_command,
    "evaluate": evaluate_command,
    "views": views_command,
    "check": check_command,
    "methods": methods_command,
    "anatomy": anatomy_command,
}


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command that was typed; a user's mistake is one line, not a trace."""
    typed = sys.argv[1:] if arguments is None else list(arguments)
    given = _parser().parse_args(_spelled(typed)).as_dict()
    name = given["subcommand"]
    options = {key: value for key, value in given[name].items() if key != "config"}
    try:
        COMMANDS[name](**options)
    except (ValueError, FileNotFoundError) as error:
        sys.exit(f"counterpoint: {error}")
    except KeyboardInterrupt as stop:
        sys.stderr.write(f"counterpoint: {stop or 'stopped'}\n")
        sys.exit(130)  # what a shell expects of Ctrl-C


def _own(file: str | None) -> dict[str, type]:
    """Load a user's own parts, and say so: this runs their file."""
    from counterpoint.parts.own import own_parts

    found = own_parts(file)
    if file is not None:
        sys.stderr.write(f"counterpoint: parts of {file}: {', '.join(found) or 'none'}\n")
    return found


def _parser() -> "ArgumentParser":
    """Make the parser from the signatures and docstrings of the commands."""
    from jsonargparse import ArgumentParser, set_parsing_settings

    set_parsing_settings(import_path_denylist=["*"])  # a config never imports code
    parser = ArgumentParser(prog="counterpoint", description="Contrastive learning in five parts.")
    commands = parser.add_subcommands()
    for name, command in COMMANDS.items():
        summary = (command.__doc__ or "").splitlines()[0]
        one = ArgumentParser(description=summary)
        one.add_argument("--config", action="config", help="File with any of these options.")
        several = {"names"} & command.__annotations__.keys()
        for argument in several:
            one.add_argument(argument, nargs="+", help="Names of methods.")
        one.add_function_arguments(command, as_group=False, as_positional=True, skip={*several})
        commands.add_subcommand(name, one, help=summary)
    return parser


def _spelled(typed: list[str]) -> list[str]:
    """Accept --batch-size for --batch_size, and --compile for --compile true.

    >>> _spelled(["pretrain", "my-data", "--batch-size=64", "--compile"])
    ['pretrain', 'my-data', '--batch_size=64', '--compile=true']
    """
    spelled = []
    for place, word in enumerate(typed):
        flag, equals, value = word.partition("=")
        if word.startswith("--"):
            flag = "--" + flag[2:].replace("-", "_")
        following = typed[place + 1] if place + 1 < len(typed) else ""
        if flag == "--compile" and not equals and following not in ("true", "false"):
            equals, value = "=", "true"
        spelled.append(flag + equals + value)
    return spelled
