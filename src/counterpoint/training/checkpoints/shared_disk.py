"""Whether all ranks see the folder that checkpoints are written to."""

import secrets
import time
from contextlib import suppress
from pathlib import Path

from counterpoint.training.checkpoints.talk import Talk
from counterpoint.training.checkpoints.writing import make_folder

SEEN = 10.0  # seconds in which a file that was made elsewhere is seen here


def all_see(folder: Path, talk: Talk, *, seconds: float = SEEN) -> bool:
    """Tell whether a file of rank 0 is seen by all ranks; all of them ask.

    >>> import tempfile
    >>> all_see(Path(tempfile.mkdtemp()), Talk())
    True
    """
    if talk.ranks == 1:
        return True
    name = talk.tell(f".seen-{secrets.token_hex(8)}".encode()).decode()
    file = folder / name
    made = True
    if talk.rank == 0:
        try:
            make_folder(folder)
            file.touch(mode=0o600)
        except OSError:
            made = False  # the first checkpoint says why
    made = bool(talk.number(int(made)))
    end = time.monotonic() + seconds
    while made and not file.exists() and time.monotonic() < end:
        time.sleep(0.05)
    unseen = talk.failure("" if file.exists() or not made else "not seen")
    if talk.rank == 0:
        with suppress(OSError):
            file.unlink()
    return not unseen
