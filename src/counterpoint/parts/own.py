"""A user's own parts, from a Python file that they name."""

import importlib.util
import sys
from dataclasses import is_dataclass
from pathlib import Path


def own_parts(file: str | Path | None) -> dict[str, type]:
    """Run a Python file and give the part classes that it defines, by name.

    This runs the file: only name one that you trust. A method's JSON never names a file.
    """
    if file is None:
        return {}
    path = Path(file).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"parts: there is no file {file}")
    name = f"counterpoint_parts_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # so that pickle and dataclasses find it
    spec.loader.exec_module(module)
    return {
        key: value
        for key, value in vars(module).items()
        if isinstance(value, type) and is_dataclass(value) and value.__module__ == name
    }
