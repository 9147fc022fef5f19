"""The folder that a run is written to, looked at before anything else is done."""

from pathlib import Path

from counterpoint.address import is_address, whole_address
from counterpoint.data.location import local
from counterpoint.training.run_store.run_address import refuse_scheme, working_folder


def out_folder(out: str | Path) -> Path:
    """Return the folder that a run is written to; that of an address is in the user's cache.

    What cannot be one is refused; nothing is made yet.

    >>> out_folder("s4://bucket/run")
    Traceback (most recent call last):
    ValueError: out: got s4://bucket/run; ...
    """
    if isinstance(out, str | Path) and is_address(out):
        refuse_scheme(out, what="out")
        return working_folder(whole_address(out))
    folder = local(out, what="out")
    for place in (folder, *folder.parents):
        if place.exists() and not place.is_dir():
            raise ValueError(f"out: {place} is a file; needs a folder, or a name that is free")
    return folder
