"""What can be refused before torch is imported, which takes seconds: a folder, a name."""

from pathlib import Path

from counterpoint import catalogue
from counterpoint.spelling import did_you_mean


def refuse_early(
    *,
    data: str | None = None,
    method: str | None = None,
    encoder: str | None = None,
    run: str | None = None,
) -> None:
    """Refuse what is not there and names that are not known; what is left is looked at later.

    >>> refuse_early(method="simcrl")
    Traceback (most recent call last):
        ...
    ValueError: method: got 'simcrl'; did you mean simclr?
    """
    if method is not None:
        _method(method)
    if encoder is not None:
        _encoder(encoder)
    if run is not None and not (Path(run) / "run.json").is_file():
        raise FileNotFoundError(f"run: {run} holds no run.json; counterpoint pretrain writes one")
    if data is not None:
        _data(data)


def _method(name: str) -> None:
    known = (*catalogue.METHODS, *catalogue.VARIANTS)
    if name.endswith(".json"):
        if not Path(name).is_file():
            raise FileNotFoundError(f"method: there is no file {name}")
    elif name not in known:
        near = did_you_mean(name, known) or "counterpoint methods lists the names"
        raise ValueError(f"method: got {name!r}; {near}")


def _encoder(name: str) -> None:
    known = (*catalogue.ENCODERS, f"{catalogue.TIMM}NAME")
    if name.startswith(catalogue.TIMM) or name.removeprefix("torchvision/") in known:
        return  # timm has its own list, which takes its import
    near = (
        did_you_mean(name.removeprefix("torchvision/"), known)
        or "counterpoint encoders lists the names"
    )
    raise ValueError(f"encoder: got {name!r}; {near}")


def _data(place: str) -> None:
    if "://" in place:
        raise ValueError(
            f"data: got {place}; data is local files only for now: copy it to a disk first"
        )
    if not Path(place).exists():
        raise FileNotFoundError(f"data: there is no folder {place}")
