"""Packages that belong together, and releases that nobody should run."""

import platform
import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import metadata

from counterpoint.version import VERSION

PACKAGES = ("torch", "torchvision", "lightning", "pytorch-lightning", "pillow")
MALWARE = {"lightning": ("2.6.2", "2.6.3"), "pytorch-lightning": ("2.6.2", "2.6.3")}
"""Releases that were malware: pyproject.toml excludes them too."""


SIGNS: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    "==": lambda have, wanted: have[: len(wanted)] == wanted,
    "!=": lambda have, wanted: have[: len(wanted)] != wanted,
    ">=": lambda have, wanted: have >= wanted,
    "<": lambda have, wanted: have < wanted,
    "<=": lambda have, wanted: have <= wanted,
}


@dataclass(frozen=True, slots=True)
class Version:
    """A package: what is installed, and what is wrong with it, if anything.

    >>> Version("torch", "2.9.1", wrong="needs 2.10 or newer").wrong
    'needs 2.10 or newer'
    """

    name: str
    found: str
    wrong: str = ""


def package_versions() -> list[Version]:
    """Compare what is installed with what is needed.

    >>> [version.name for version in package_versions()][:3]
    ['python', 'counterpoint', 'torch']
    """
    found = {name: _installed(name) for name in PACKAGES}
    needed, pair = _needed(), _asked("torchvision", "torch")
    listed = [Version("python", platform.python_version()), Version("counterpoint", VERSION)]
    for name, version in found.items():
        if version is None and name == "pytorch-lightning":  # only there if somebody wants it
            continue
        listed.append(Version(name, version or "none", _wrong(name, found, needed.get(name), pair)))
    return listed


def _wrong(name: str, found: dict[str, str | None], needed: str | None, pair: str = "") -> str:
    """Say what is wrong with a package; nothing is the empty string.

    `pair` is what the installed torchvision says about torch.

    >>> _wrong("lightning", {"lightning": "2.6.3"}, "2.6.6")
    'this release was malware: remove it, and change every secret this machine had'
    >>> _wrong("torch", {"torch": "2.9.1"}, "2.10")
    'needs 2.10 or newer'
    >>> _wrong("torchvision", {"torchvision": "0.27.0", "torch": "2.14.1"}, "0.25", "==2.12.0")
    'made for torch ==2.12.0, not 2.14.1: install both together'
    """
    version = found[name]
    if version is None:
        return "not installed"
    if version in MALWARE.get(name, ()):
        return "this release was malware: remove it, and change every secret this machine had"
    if needed is not None and _numbers(version) < _numbers(needed):
        return f"needs {needed} or newer"
    torch = found.get("torch")
    if name == "torchvision" and torch is not None and not _fits(torch, pair):
        return f"made for torch {pair}, not {torch}: install both together"
    return ""


def _fits(version: str, asked: str) -> bool:
    """Whether a version is one that a requirement asks for.

    >>> _fits("2.15.0", ">=2.14.0"), _fits("2.15.0+cpu", "==2.14.0")
    (True, False)
    """
    have = _numbers(version)
    for rule in asked.replace(" ", "").split(","):
        want = rule.lstrip("<>=!~")
        sign = rule.removesuffix(want)
        wanted = _numbers(want)
        if wanted and sign in SIGNS and not SIGNS[sign](have, wanted):
            return False
    return True


def _numbers(version: str) -> tuple[int, ...]:
    """Return the numbers that a version begins with.

    >>> _numbers("2.14.1+cpu")
    (2, 14, 1)
    """
    return tuple(int(part) for part in re.split(r"[^\d.]", version)[0].split(".") if part)


def _installed(name: str) -> str | None:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


def _asked(package: str, other: str) -> str:
    """Read which versions of another package an installed one asks for; all, if it says nothing."""
    try:
        lines = metadata.requires(package) or []
    except metadata.PackageNotFoundError:
        return ""
    found = (re.match(rf"{other}\s*\(?([<>=!~][^;)]*)", line) for line in lines)
    return next((match[1].strip() for match in found if match), "")


def _needed() -> dict[str, str]:
    """Read the oldest versions that will do from our own package."""
    found = (
        re.match(r"([\w-]+).*?>=([\d.]+)", line) for line in metadata.requires("counterpoint") or []
    )
    return {match[1]: match[2] for match in found if match and "extra ==" not in match.string}
