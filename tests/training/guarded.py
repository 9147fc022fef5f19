"""Read hostile files in a process that is watched: what it runs, how long, how much memory.

Run as a script: what to read, a folder of cases, a pickle that must be noticed. It writes a line
of JSON for each case and one for the whole.
"""

import contextlib
import io
import json
import pickle
import resource
import sys
import time
from pathlib import Path

MEMORY = 300 << 20
RUNS_CODE = (
    "os.system",
    "os.exec",
    "os.fork",
    "os.posix_spawn",
    "os.spawn",
    "subprocess.Popen",
    "pickle.find_class",
    "marshal.loads",
    "ctypes.dlopen",
    "socket.connect",
    "pty.spawn",
)
LOADS_CODE = ("import", "exec", "compile")

seen = []


def watch(events):
    sys.addaudithook(lambda event, _: seen.append(event) if event in events else None)


def memory(field):
    """Bytes of VmSize, VmHWM or VmRSS of this process."""
    text = Path("/proc/self/status").read_text()
    return int(text.split(f"{field}:")[1].split()[0]) * 1024


def limit():
    """Let this process have no more memory than it has, and 300 MB."""
    most = memory("VmSize") + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (most, most))


def report(name, started, outcome):
    line = {
        "case": name,
        "outcome": outcome,
        "seconds": time.process_time() - started,
        "ran": [*seen],
    }
    seen.clear()
    print(json.dumps(line), flush=True)


def read_checkpoints(root):
    """Load each folder, and look for the newest that is whole."""
    from counterpoint.training.checkpoints import CheckpointError, Checkpoints

    good = Checkpoints(root / "good")
    good.load(good.newest())
    yield
    for case in sorted((root / "cases").iterdir()):
        started, place = time.process_time(), Checkpoints(case)
        try:
            outcome = "loaded"
            place.load(case / "step-00000002")
        except CheckpointError as error:
            outcome = f"refused: {str(error).removeprefix(str(case))}"
            with contextlib.redirect_stderr(io.StringIO()):
                if place.newest() != case / "step-00000001":
                    outcome = "not skipped"
        except BaseException as error:  # noqa: BLE001 (a crash is what we look for)
            outcome = f"crash: {type(error).__name__} {error}"
        report(case.name, started, outcome)


def read_configs(root):
    """Return each file to the command line as a config."""
    from counterpoint.cli import main

    def attempt(file):
        main(["pretrain", f"--config={file}", str(root / "no-data"), f"--out={root / 'out'}"])

    with contextlib.suppress(SystemExit), contextlib.redirect_stderr(io.StringIO()):
        attempt(root / "good.yaml")
    yield
    for case in sorted((root / "cases").iterdir()):
        started, said = time.process_time(), io.StringIO()
        try:
            with contextlib.redirect_stderr(said):
                attempt(case)
            outcome = "returned"
        except SystemExit as stop:
            text = stop.code if isinstance(stop.code, str) else said.getvalue()
            outcome = f"refused: {text[-300:].strip().splitlines()[-1]} ({len(text)})"
        except BaseException as error:  # noqa: BLE001 (a crash is what we look for)
            outcome = f"crash: {type(error).__name__} {error}"
        report(case.name, started, outcome)


def read_methods(root):
    """Read each file as a method."""
    from counterpoint.methods import read_method

    read_method((root / "good.json").read_text())
    yield
    for case in sorted((root / "cases").iterdir()):
        started = time.process_time()
        try:
            read_method(case.read_bytes().decode())
            outcome = "accepted"
        except (ValueError, TypeError) as error:
            outcome = f"refused: {str(error)[:300]} ({len(str(error))})"
        except BaseException as error:  # noqa: BLE001 (a crash is what we look for)
            outcome = f"crash: {type(error).__name__} {error}"
        report(case.name, started, outcome)


def read_pictures(root):
    """Open, decode and cut each file by itself, and the largest all in one batch."""
    import torch

    from counterpoint.data import UnreadableImageError, image_files
    from counterpoint.data.reading import read_cuts
    from counterpoint.framework import Draw
    from counterpoint.parts.views import pipelines

    torch.set_num_threads(1)
    views = pipelines.simclr_views(64).build((3, 64, 64))

    def attempt(name, index, do):
        started = time.process_time()
        try:
            outcome = f"read {tuple(do(Draw(0, 0, index))[0].shape)}"
        except UnreadableImageError as error:
            outcome = f"refused: {error.kind}: {error}"
        except BaseException as error:  # noqa: BLE001 (a crash is what we look for)
            outcome = f"crash: {type(error).__name__} {error}"
        report(name, started, outcome)

    good = image_files(root / "good")
    everything = torch.arange(len(good))
    views.cut(good.pictures(everything), Draw(0, 0, everything))
    yield
    files = image_files(root / "cases")
    for one in torch.arange(len(files)).split(1):
        name = files.paths[int(one)].stem
        attempt(name, one, lambda draw: views.cut(files.pictures(draw.index), draw))
    # All at once: those that are refused make way for others.
    attempt("batch", torch.arange(len(files)), lambda draw: read_cuts(files, views.cut, draw)[0])


READERS = {
    "checkpoints": read_checkpoints,
    "configs": read_configs,
    "methods": read_methods,
    "pictures": read_pictures,
}

if __name__ == "__main__":
    reader = READERS[sys.argv[1]](Path(sys.argv[2]))
    next(reader)  # imports, and a first read of a good file
    watch(RUNS_CODE if sys.argv[1] == "configs" else RUNS_CODE + LOADS_CODE)
    if sys.argv[1] != "pictures":  # what decoders free stays an address; what is resident counts
        limit()
    before = memory("VmHWM")
    for _ in reader:
        pass
    grown = memory("VmHWM") - before
    seen.clear()
    pickle.loads(Path(sys.argv[3]).read_bytes())  # so that we know that running code is seen
    print(json.dumps({"grown": grown, "noticed": seen}), flush=True)
