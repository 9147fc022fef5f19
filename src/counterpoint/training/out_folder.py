"""The folder that a run is written to, looked at before anything else is done."""

from pathlib import Path

from counterpoint.data.location import local


def out_folder(out: str | Path) -> Path:
    """Refuse what cannot be the folder of a run; nothing is made yet.

    >>> out_folder("s3://bucket/run")
    Traceback (most recent call last):
    ValueError: out: got s3://bucket/run; out is local files only for now: give a folder of ...
    """
    folder = local(out, what="out")
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise ValueError(f"out: {place} is a file; needs a folder, or a name that is free")
    return folder
