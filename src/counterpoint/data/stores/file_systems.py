"""The file systems of fsspec, one for each kind of store and process."""

import os
from collections.abc import Callable, Coroutine
from typing import Any

from counterpoint.address import OWN, check_scheme, scheme_of
from counterpoint.data.stores.retry import Patience

CONNECTIONS = 32

_OPENED: dict[tuple[int, str, float], Any] = {}
"""By process: an event loop does not survive a fork, nor do its connections. What a parent had
opened stays here, for letting go of it would have its loop close them."""


def file_system(address: str, patience: Patience) -> Any:
    """Return the file system of an address, for this process.

    Endpoint and credentials are found as its package finds them: for s3 in AWS_ENDPOINT_URL,
    AWS_ACCESS_KEY_ID, the files of ~/.aws and the role of the machine. It asks once: asking again
    is done by `ask`.
    """
    scheme = scheme_of(address)
    key = (os.getpid(), scheme, patience.request)
    found = _OPENED.get(key)
    if found is None:
        check_scheme(address, what="store")
        found = _OPENED.setdefault(key, _opened(scheme, patience))
    return found


def in_time(system: Any, name: str, seconds: float, *words: Any, **options: Any) -> Any:
    """Call a method of a file system, for at most so long where it can be interrupted."""
    if not system.async_impl:
        return getattr(system, name)(*words, **options)
    from fsspec.asyn import sync

    method: Callable[..., Coroutine[Any, Any, Any]] = getattr(system, f"_{name}")
    return sync(system.loop, method, *words, timeout=seconds, **options)


def _opened(scheme: str, patience: Patience) -> Any:
    import fsspec

    if scheme not in OWN["s3fs"]:
        return fsspec.filesystem(scheme, use_listings_cache=False)
    system = fsspec.filesystem(
        scheme,
        skip_instance_cache=True,
        use_listings_cache=False,
        config_kwargs={
            "retries": {"total_max_attempts": 1},
            "connect_timeout": min(10.0, patience.request),
            "read_timeout": patience.request,
            "max_pool_connections": CONNECTIONS,
        },
    )
    system.retries = 1  # tries, as s3fs counts them
    return system
