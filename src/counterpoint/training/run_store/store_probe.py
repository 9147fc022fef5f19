"""Whether an address can be written to, tried before anything long is begun."""

import secrets
from dataclasses import replace

from counterpoint.data.stores.retry import StoreFailure, reason
from counterpoint.training.run_store.object_place import ObjectPlace

SOON = 60.0  # seconds in which a store must answer before a run begins


def refuse_unwritable(place: ObjectPlace, *, what: str = "out") -> None:
    """Write, read and delete a small object; refuse in one line what does not allow it.

    >>> refuse_unwritable(ObjectPlace("memory://doctest-probe/run"))
    """
    patient = replace(place.patience, in_all=min(SOON, place.patience.in_all))
    quick = replace(place, patience=patient)
    name, content = f".probe-{secrets.token_hex(8)}", secrets.token_bytes(8)
    try:
        quick.write(name, content)
        found = quick.read(name)
        quick.delete(name)
    except FileNotFoundError:
        bucket = place.address.partition("://")[2].partition("/")[0]
        raise ValueError(
            f"{what}: got {place.address}; there is no bucket {bucket}, or it is not yours; make "
            "it, or give another"
        ) from None
    except PermissionError as error:
        raise ValueError(
            f"{what}: {place.address} may not be written to ({reason(error)}); it needs the rights "
            "to list, read, write and delete"
        ) from None
    except (NotImplementedError, AttributeError):
        raise ValueError(
            f"{what}: {place.address} cannot be written to: stores of this kind are read only"
        ) from None
    except StoreFailure as error:
        raise StoreFailure(f"{what}: {place.address} does not answer ({error})") from error
    if found != content:
        raise ValueError(f"{what}: {place.address} does not give back what was written to it")
