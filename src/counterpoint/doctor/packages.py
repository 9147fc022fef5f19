"""Packages that belong together, and releases that nobody should run."""

import platform
import re
from dataclasses import dataclass
from importlib import metadata

PACKAGES = ("torch", "torchvision", "lightning", "pytorch-lightning", "pillow")
MALWARE = {"lightning": ("2.6.2", "2.6.3"), "pytorch-lightning": ("2.6.2", "2.6.3")}
"""Releases that were malware: pyproject.toml excludes them too."""
APART = 15  # torchvision 0.25 is made for torch 2.10, 0.29 for 2.14: its README's table


@dataclass(frozen=True, slots=True)
class Version:
    """A package: what is installed, and what is wrong with it, if anything."""

    name: str
    found: str
    wrong: str = ""


def versions() -> list[Version]:
    """Compare what is installed with what is needed."""
    found = {name: _installed(name) for name in PACKAGES}
    needed = _needed()
    listed = [Version("python", platform.python_version())]
    for name, version in found.items():
        if version is None and name == "pytorch-lightning":  # only there if somebody wants it
            continue
        listed.append(Version(name, version or "none", _wrong(name, found, needed.get(name))))
    return listed


def _wrong(name: str, found: dict[str, str | None], needed: str | None) -> str:
    """Say what is wrong with a package; nothing is the empty string.

    >>> _wrong("lightning", {"lightning": "2.6.3"}, "2.6.6")
    'this release was malware: remove it, and change every secret this machine had'
    >>> _wrong("torch", {"torch": "2.9.1"}, "2.10")
    'needs 2.10 or newer'
    >>> _wrong("torchvision", {"torchvision": "0.27.0", "torch": "2.14.1"}, "0.25")
    'made for torch 2.12, not 2.14.1: install both together'
    """
    version = found[name]
    if version is None:
        return "not installed"
    if version in MALWARE.get(name, ()):
        return "this release was malware: remove it, and change every secret this machine had"
    if needed is not None and _numbers(version) < _numbers(needed):
        return f"needs {needed} or newer"
    torch = found.get("torch")
    if name == "torchvision" and torch is not None:
        fits = _numbers(version)[1] - APART
        if (2, fits) != _numbers(torch)[:2]:
            return f"made for torch 2.{fits}, not {torch}: install both together"
    return ""


def _numbers(version: str) -> tuple[int, ...]:
    """Read a version up to where it is no number.

    >>> _numbers("2.14.1+cpu")
    (2, 14, 1)
    """
    return tuple(int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part)  # type: ignore[index]


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _needed() -> dict[str, str]:
    """Read the oldest versions that will do from our own package."""
    found = (
        re.match(r"([\w-]+).*?>=([\d.]+)", line) for line in metadata.requires("counterpoint") or []
    )
    return {match[1]: match[2] for match in found if match and "extra ==" not in match.string}
