"""Addresses of runs, and the folders of this machine that stand for them.

A run at an address is written to a folder of the user's cache first, and brought to the store from
there: its name is that of the run, and the folder above it is known by the address.
"""

import hashlib
import os
from pathlib import Path

from counterpoint.address import check_scheme, is_address, whole_address
from counterpoint.whole_file import write_whole

MARK = "address.txt"


def refuse_scheme(place: str | os.PathLike[str], *, what: str) -> None:
    """Refuse an address whose kind of store is not known, or whose package is not installed.

    >>> refuse_scheme("s4://bucket/run", what="out")
    Traceback (most recent call last):
    ValueError: out: got s4://bucket/run; s4:// is not known to fsspec ...
    """
    address = whole_address(place)
    scheme, _, rest = address.partition("://")
    if scheme in ("file", "local"):
        raise ValueError(f"{what}: got file:///{rest}; write the path alone: /{rest}")
    if scheme in ("http", "https"):
        raise ValueError(
            f"{what}: got {address}; web pages cannot be listed and written; s3:// can"
        )
    if not rest:
        raise ValueError(
            f"{what}: got {address}; needs a bucket and a name: {scheme}://BUCKET/NAME"
        )
    check_scheme(address, what=what)


def runs_folder() -> Path:
    """Return where this machine keeps runs that belong to a store: COUNTERPOINT_RUNS, or a cache.

    Nobody but the user can enter it.
    """
    home = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(os.environ.get("COUNTERPOINT_RUNS") or f"{home}/counterpoint/runs")


def working_folder(address: str) -> Path:
    """Return the folder in which a run is trained that belongs to an address."""
    return _home(address) / "work" / name_of(address)


def copy_folder(address: str) -> Path:
    """Return the folder that holds copies of what was read of a run."""
    return _home(address) / "copy" / name_of(address)


def name_of(address: str) -> str:
    """Return the last part of an address.

    >>> name_of("s3://bucket/runs/photos")
    'photos'
    """
    return whole_address(address).rpartition("/")[2]


def made_folder(folder: Path, address: str) -> Path:
    """Make a folder of this kind, and write down beside it to which address it belongs."""
    home = folder.parent.parent
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    home.chmod(0o700)
    folder.mkdir(parents=True, exist_ok=True)
    mark = home / MARK
    if not mark.is_file():
        write_whole(mark, address + "\n")
    return folder


def address_of(folder: Path) -> str | None:
    """Return the address that a folder belongs to; None for any folder of a user's own.

    A copy that was moved elsewhere belongs to nothing.
    """
    try:
        address = (folder.parent.parent / MARK).read_text().strip()
    except (OSError, ValueError):
        return None
    whole = folder.absolute()
    known = is_address(address) and whole in (working_folder(address), copy_folder(address))
    return address if known else None


def run_place(folder: Path) -> str:
    """Return what a user calls the folder of a run: its address, where it has one."""
    return address_of(folder) or str(folder)


def _home(address: str) -> Path:
    key = hashlib.sha256(whole_address(address).encode()).hexdigest()[:16]
    return runs_folder().absolute() / key
