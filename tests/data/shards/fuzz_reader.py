"""Open damaged data in a process of its own, watched: what it runs, opens, writes and takes.

fuzz_reader.py FIRST LAST ROOT: a line of JSON for each case, and one at the end
"""

import json
import os
import resource
import shutil
import sys
import time
import traceback
from pathlib import Path

from counterpoint.data import open_data
from counterpoint.data.layouts import parquet_stream
from counterpoint.data.pictures import UnreadableImageError
from data.shards.fuzz_cases import write_case

ADDRESS_SPACE = 6 << 30  # what torch and pyarrow map without using it is above 2 GB
EXECUTES = ("os.system", "subprocess.Popen", "os.exec", "os.posix_spawn", "pickle.find_class")
NOTICED: list[str] = []
ALLOWED: list[str] = []


def watch(event, arguments):
    """Note whatever would run something, or write or open a file outside of the case's folders."""
    if event in EXECUTES:
        NOTICED.append(f"{event} {arguments!r}"[:200])
    elif event == "open" and ALLOWED and isinstance(arguments[0], str | bytes):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if not path.startswith(tuple(ALLOWED)):
            NOTICED.append(f"open {path}"[:200])


def walk(place):
    """Open a data set and ask for all that others ask of one; return what came of it."""
    splits = open_data(place)
    said = []
    for part in (splits.train, splits.validation, splits.test):
        repr(part)
        part.fingerprint()
        for sample in range(min(len(part), 40)):
            try:
                part.path(sample)
                part.stored(sample).picture().decode(1.0)
                said.append("read")
            except UnreadableImageError as error:
                said.append(error.kind if "\n" not in str(error) else f"long: {error}")
        if part.has_labels and len(part):
            import torch

            labels = part.labels_of(torch.arange(min(len(part), 40)))
            assert labels.min() >= 0, labels
    return f"opened, {said.count('read')} of {len(said)} read"


def one(number, root):
    place = root / "case"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    kind = write_case(number, place)
    parquet_stream.ENCODED = 0 if number % 2 else 2 << 30
    NOTICED.clear()
    libraries = [os.path.realpath(path) for path in sys.path if path]
    ALLOWED[:] = [str(root.resolve()), *libraries, sys.base_prefix, "/proc/self"]
    started = time.process_time()
    try:
        outcome = walk(place)
    except (ValueError, FileNotFoundError) as error:
        text = str(error)
        outcome = f"refused: {text}" if "\n" not in text and len(text) < 900 else f"crash: {text}"
    except MemoryError:
        outcome = "crash: MemoryError"
    except BaseException:  # noqa: BLE001 (whatever it is, it is a finding)
        outcome = f"crash: {traceback.format_exc()}"
    ALLOWED.clear()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10
    seconds = time.process_time() - started
    line = {"case": number, "kind": kind, "outcome": outcome, "seconds": seconds, "peak": peak}
    print(json.dumps({**line, "noticed": [*NOTICED]}), flush=True)


if __name__ == "__main__":
    first, last, root = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE))
    sys.addaudithook(watch)
    for number in range(first, last):
        one(number, root)
    ALLOWED[:] = [str(root)]
    NOTICED.clear()
    Path("/etc/hostname").exists()
    open("/etc/passwd").close()  # noqa: PTH123 (the control: the watch has to see this)
    print(json.dumps({"control": [*NOTICED]}))
