"""Addresses of object stores: what is one, how it is kept, and which kinds there are."""

import os
import re

ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):/+(.*)")  # pathlib makes one slash of two
OWN = {"s3fs": ("s3", "s3a")}
"""The packages of our extra `stores`, and their schemes."""


def is_address(place: str | os.PathLike[str]) -> bool:
    """Tell whether a place is an address of a store, not a path of this machine.

    >>> from pathlib import Path
    >>> is_address("s3://bucket/run"), is_address("runs/photos"), is_address(Path("s3://bucket/run"))
    (True, False, True)
    """
    return ADDRESS.match(os.fspath(place)) is not None


def whole_address(place: str | os.PathLike[str]) -> str:
    """Return an address as it is kept; one of many ways to write it.

    >>> whole_address("s3:/bucket//run/")
    's3://bucket/run'
    """
    found = ADDRESS.match(os.fspath(place))
    if found is None:
        raise ValueError(f"out: got {place}, which is not an address")
    return f"{found[1].lower()}://{re.sub('/+', '/', found[2]).strip('/')}"


def scheme_of(address: str) -> str:
    """Return the scheme of an address.

    >>> scheme_of("s3://bucket/set")
    's3'
    """
    return address.partition("://")[0]


def check_scheme(address: str, *, what: str) -> None:
    """Refuse a scheme that is not known, or whose package is not installed.

    >>> check_scheme("s4://bucket/set", what="data")
    Traceback (most recent call last):
    ValueError: data: got s4://bucket/set; s4:// is not known to fsspec (s3, gs, az, hf, file are)
    """
    import fsspec

    scheme = scheme_of(address)
    try:
        fsspec.get_filesystem_class(scheme)
    except ImportError as error:
        ours = any(scheme in schemes for schemes in OWN.values())
        do = "pip install 'counterpoint[stores]'" if ours else str(error)
        raise ImportError(
            f"{what}: got {address}; {scheme}:// needs a package that is not installed: {do}"
        ) from None
    except ValueError:
        raise ValueError(
            f"{what}: got {address}; {scheme}:// is not known to fsspec (s3, gs, az, hf, file are)"
        ) from None
