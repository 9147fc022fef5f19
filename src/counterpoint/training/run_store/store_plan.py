"""What belongs where: plain arithmetic of names, for whoever brings files to a store and back."""

from collections.abc import Collection, Iterable, Mapping, Sequence

from counterpoint.run_files import CHECKPOINTS, RUN
from counterpoint.training.checkpoints.manifest import MANIFEST, PLAIN, TENSORS
from counterpoint.training.checkpoints.rank_shares import shares_of
from counterpoint.training.checkpoints.step_names import step_name, step_of

LOCK, IDENTITY = "run.lock", "store.json"
ORDER = (PLAIN, TENSORS, MANIFEST)
"""The files of a checkpoint as they are written: the manifest last; without it there is none."""
APART = (LOCK, IDENTITY, "embeddings.safetensors")
"""What is of the store's own, or can be computed again."""


def objects_of(step: int, files: Sequence[str] = ORDER) -> list[str]:
    """Name the objects of a checkpoint in the order in which they are written.

    >>> objects_of(120)[-1]
    'checkpoints/step-00000120/manifest.json'
    """
    return [f"{CHECKPOINTS}/{step_name(step)}/{file}" for file in files]


def whole_files(names: Collection[str]) -> list[str]:
    """Return the files of a checkpoint, the manifest last; none where one is missing.

    >>> whole_files(["manifest.json", "state.json", "share-00000-of-00002.safetensors"])
    []
    """
    shares = [every for name in sorted(names) if (every := shares_of(name))]
    tensors = shares[0] if shares and TENSORS not in names else [TENSORS]
    files = [PLAIN, *tensors, MANIFEST]
    return files if {*files} <= {*names} else []


def stored_steps(names: Iterable[str]) -> dict[int, list[str]]:
    """Sort what is there of each checkpoint by its step, newest first.

    >>> stored_steps(["metrics.csv", *objects_of(3), objects_of(20)[0]])
    {20: ['state.json'], 3: ['manifest.json', 'state.json', 'state.safetensors']}
    """
    found: dict[int, list[str]] = {}
    for name in sorted(names):
        top, _, below = name.partition("/")
        folder, _, file = below.partition("/")
        if top == CHECKPOINTS and file and (step := step_of(folder)) is not None:
            found.setdefault(step, []).append(file)
    return dict(sorted(found.items(), reverse=True))


def whole_steps(names: Iterable[str]) -> list[int]:
    """List the steps whose checkpoint has all its files, newest first.

    >>> whole_steps([*objects_of(3), *objects_of(20)[:2], *objects_of(7)])
    [7, 3]
    """
    return [step for step, files in stored_steps(names).items() if whole_files(files)]


def retired(
    names: Collection[str], *, newest: int, keep: int, also: Collection[int] = ()
) -> list[str]:
    """List what is deleted once the checkpoint `newest` is there, in that order.

    The newest few that are whole stay, `also` these, and whatever is newer; of the others the
    manifest is deleted first, so that a kill leaves nothing that looks whole.

    >>> retired([*objects_of(1), *objects_of(2), *objects_of(3)], newest=3, keep=2)[0]
    'checkpoints/step-00000001/manifest.json'
    """
    kept = [step for step in whole_steps(names) if step <= newest][:keep]
    kept += [step for step in whole_steps(names) if step in also]
    old = [step for step in stored_steps(names) if step < newest and step not in kept]
    listed = stored_steps(names)
    files = [(step, file) for step in old for file in listed[step]]
    files.sort(key=lambda one: one[1] != MANIFEST)
    return [f"{CHECKPOINTS}/{step_name(step)}/{file}" for step, file in files]


def to_upload(
    files: Mapping[str, tuple[int, int]], uploaded: Mapping[str, tuple[int, int]]
) -> list[str]:
    """List the files of a run that have changed, besides its checkpoints; run.json comes last.

    Files are known by their size and time. Names that begin with a dot are nobody's.

    >>> to_upload({"run.json": (1, 1), "metrics.csv": (2, 2), "run.lock": (1, 1)}, {})
    ['metrics.csv', 'run.json']
    """
    changed = [
        name
        for name, stamp in files.items()
        if uploaded.get(name) != stamp
        and name not in APART
        and not name.startswith(f"{CHECKPOINTS}/")
        and not any(part.startswith(".") for part in name.split("/"))
    ]
    return sorted(changed, key=lambda name: (name == RUN, name))
