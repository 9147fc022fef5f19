"""What can be refused before torch is imported, which takes seconds: paths and names."""

from collections.abc import Callable
from pathlib import Path

from counterpoint import catalogue
from counterpoint.address import check_scheme, is_address, whole_address
from counterpoint.run_files import EVALUATION, HEALTH, METHOD, METRICS, RUN, metrics_file
from counterpoint.spelling import did_you_mean
from counterpoint.training.run_store.run_address import refuse_scheme


def refuse_early(
    *,
    data: str | None = None,
    method: str | None = None,
    encoder: str | None = None,
    weights: str | None = None,
    run: str | None = None,
    started: str | None = None,
    out: str | None = None,
    out_run: str | None = None,
    resume: str = "never",
    parts: str | None = None,
    known_bad: str | None = None,
) -> None:
    """Refuse paths that do not exist and names that are not known; the rest is checked later.

    >>> refuse_early(method="simcrl")
    Traceback (most recent call last):
        ...
    ValueError: method: got 'simcrl'; did you mean simclr?
    """
    looks: tuple[tuple[str | None, Callable[[str], None]], ...] = (
        (method, _method),
        (encoder, _encoder),
        (weights, _weights),
        (run, lambda place: _run(place, (RUN,))),
        # a run that may still be training
        (started, lambda place: _run(place, (RUN, METHOD, METRICS, HEALTH, EVALUATION))),
        (data, _data),
        (out, _out),
        (out_run, _out_run),
    )
    for given, look in looks:
        if given is not None:
            look(given)
    _resume(resume)
    for option, file in (("parts", parts), ("known-bad", known_bad)):
        if file is not None and not Path(file).is_file():
            raise FileNotFoundError(f"{option}: there is no file {file}")


def refuse_store(out: str) -> None:
    """Refuse an address where files of this machine are written.

    >>> refuse_store("s3://bucket/vectors")
    Traceback (most recent call last):
        ...
    ValueError: out: got s3://bucket/vectors; only runs are written to a store; give a path of ...
    """
    if is_address(out):
        raise ValueError(
            f"out: got {out}; only runs are written to a store; give a path of this machine, and "
            "copy what is there"
        )


def refuse_no_file(option: str, place: str) -> None:
    """Refuse a name under which no file can be written, before the work that it is to hold.

    >>> refuse_no_file("json", ".")
    Traceback (most recent call last):
        ...
    ValueError: json: . is a folder; needs the name of a file
    """
    if is_address(place):
        raise ValueError(f"{option}: got {place}; needs the name of a file of this machine")
    if Path(place).is_dir():
        raise ValueError(f"{option}: {place} is a folder; needs the name of a file")
    if not Path(place).parent.is_dir():
        raise FileNotFoundError(
            f"{option}: there is no folder {Path(place).parent}; create it first"
        )


def refuse_unknown(what: str, name: str, known: tuple[str, ...], *, more: str = "") -> None:
    """Refuse a name that is not one of a closed list.

    >>> refuse_unknown("study", "tabel1", ("table1", "table2"), more=", or a .py file")
    Traceback (most recent call last):
        ...
    ValueError: study: got 'tabel1'; there are table1, table2, or a .py file; did you mean table1?
    """
    if name not in known:
        near = did_you_mean(name, known)
        there = f"there are {', '.join(known)}{more}"
        raise ValueError(f"{what}: got {name!r}; {there}; {near}".rstrip("; "))


def _method(name: str) -> None:
    known = (*catalogue.METHODS, *catalogue.VARIANTS)
    if _there(name, "method") or (Path(name) / RUN).is_file():
        return  # a run, which is trained for longer
    if name.endswith(".json"):
        if not Path(name).is_file():
            raise FileNotFoundError(f"method: there is no file {name}")
    elif name not in known:
        near = did_you_mean(name, known) or "counterpoint methods lists the names"
        raise ValueError(f"method: got {name!r}; {near}")


def _encoder(name: str) -> None:
    if name.startswith(catalogue.TIMM):
        theirs = name.removeprefix(catalogue.TIMM)
        if not catalogue.is_timm_name(theirs):
            near = did_you_mean(theirs, catalogue.timm_names(), limit=3)
            raise ValueError(
                f"encoder: timm has no {theirs!r}; "
                f"{near or 'counterpoint encoders PART searches its names'}"
            )
        return
    known = (*catalogue.ENCODERS, f"{catalogue.TIMM}NAME")
    ours = name.removeprefix("torchvision/")
    if ours not in known:
        near = did_you_mean(ours, known) or "counterpoint encoders lists the names"
        raise ValueError(f"encoder: got {name!r}; {near}")


def _weights(place: str) -> None:
    if _there(place, "weights"):
        return
    if place != catalogue.PRETRAINED and not Path(place).exists():
        raise FileNotFoundError(
            f"weights: there is no {place}; needs a safetensors file, the folder of a run, a timm "
            "folder or pretrained"
        )


def _resume(place: str) -> None:
    if place not in catalogue.RESUME and _there(place, "resume"):
        return
    if place not in catalogue.RESUME and not Path(place).is_dir():
        near = did_you_mean(place, catalogue.RESUME) or "needs auto, never or a checkpoint's folder"
        raise ValueError(f"resume: got {place!r}, and there is no such folder; {near}")


def _run(folder: str, files: tuple[str, ...]) -> None:
    if _there(folder, "run"):
        return
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"run: there is no folder {folder}")
    below = METRICS in files and metrics_file(Path(folder))
    if not below and not any((Path(folder) / file).is_file() for file in files):
        raise FileNotFoundError(f"run: {folder} has no run.json; counterpoint pretrain writes one")


def _data(path: str) -> None:
    if is_address(path):
        check_scheme(whole_address(path), what="data")  # the store is asked when it is opened
    elif not Path(path).exists():
        raise FileNotFoundError(f"data: there is no folder {path}")


def _there(place: str, what: str) -> bool:
    """Whether a place is in a store, which is asked later; an unknown kind is refused."""
    if not is_address(place):
        return False
    refuse_scheme(place, what=what)
    if place.startswith("memory:"):
        raise ValueError(f"{what}: got {place}; what is in memory:// ends with this command")
    return True


def _out_run(folder: str) -> None:
    if not _there(folder, "out"):
        _out(folder)


def _out(folder: str) -> None:
    refuse_store(folder)
    for path in (Path(folder), *Path(folder).parents):
        if path.exists() and not path.is_dir():
            raise ValueError(f"out: {path} is a file; needs a folder, or a name that is free")
