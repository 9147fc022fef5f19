"""A user's own Python file, which they name and which is executed."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType


def run_file(file: str | Path, *, what: str) -> ModuleType:
    """Execute a Python file and return it as a module; `what` it holds is part of its name.

    This runs the file: only name one that you trust.
    """
    path = Path(file).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"{what}: there is no file {file}")
    name = f"counterpoint_{what}_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    if spec is None or spec.loader is None:
        raise ValueError(f"{what}: {file} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # so that pickle and dataclasses find it
    spec.loader.exec_module(module)
    return module
