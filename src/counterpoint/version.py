"""The version of Counterpoint, in this one place: hatch, the command and every run read it here."""

import platform
from importlib import metadata

VERSION = "0.2.0"


def versions() -> dict[str, str]:
    """Name what the figures were made with."""
    packages = ("torch", "torchvision", "lightning", "timm")
    found = {name: metadata.version(name) for name in packages}
    return {"python": platform.python_version(), "counterpoint": VERSION, **found}
