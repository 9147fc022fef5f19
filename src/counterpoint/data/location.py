"""Where data is, and where runs go: a path of this machine, or an address."""

import os
from pathlib import Path
from typing import Any

from counterpoint.address import ADDRESS


def data_place(place: Any) -> Path | str:
    """Take where data is: a path of this machine as a path, an address as text.

    >>> data_place("s3://bucket/set/"), data_place(Path("s3://bucket/set"))
    ('s3://bucket/set', 's3://bucket/set')
    >>> data_place("file:///data/set").as_posix(), data_place("photos").as_posix()
    ('/data/set', 'photos')
    """
    _refuse_objects(place, what="data")
    text = os.fsdecode(place)
    found = ADDRESS.match(text)
    if found is None:
        return Path(place)
    scheme, rest = found[1].lower(), found[2].rstrip("/")
    return Path(f"/{rest}") if scheme in ("file", "local") else f"{scheme}://{rest}"


def local(place: Any, *, what: str) -> Path:
    """Take a path of this machine; refuse addresses, and objects that are not paths.

    >>> local("s3://bucket/x", what="out")
    Traceback (most recent call last):
    ValueError: out: got s3://bucket/x; needs a folder of this machine, or one mounted like it
    """
    _refuse_objects(place, what=what)
    text = os.fspath(place)
    if found := ADDRESS.match(text if isinstance(text, str) else os.fsdecode(text)):
        scheme, rest = found.groups()
        if scheme == "file":
            raise ValueError(f"{what}: got file:///{rest}; write the path alone: /{rest}")
        raise ValueError(
            f"{what}: got {scheme}://{rest}; needs a folder of this machine, or one mounted like it"
        )
    return Path(text)


def refuse_inside(data: str | None, out: Path) -> None:
    """Refuse to write images into the folder that they are of, whose images they would become.

    >>> refuse_inside("/photos", Path("/photos/few"))
    Traceback (most recent call last):
    ValueError: out: /photos/few lies in /photos, whose images it would hold; give another
    """
    inside = out.resolve()
    if data in {str(inside), *map(str, inside.parents)}:
        raise ValueError(f"out: {out} lies in {data}, whose images it would hold; give another")


def _refuse_objects(place: Any, *, what: str) -> None:
    if not isinstance(place, str | os.PathLike):
        raise TypeError(
            f"{what}: got {type(place).__module__}.{type(place).__name__}, needs the path of a "
            "folder or file; counterpoint.as_source takes tensors, arrays and datasets"
        )
