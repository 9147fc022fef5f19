"""What of a release can be read from its files: version, changelog, citation, README."""

import re
from pathlib import Path

NOT_WALKED = ("git", "pip", "scripts/")
"""Beginnings of commands that make the environment, which a walk already has."""


def version_of(root: Path) -> str:
    """Return the version, from the one file that has it."""
    text = (root / "src/counterpoint/version.py").read_text()
    return re.search(r'^VERSION = "([^"]+)"$', text, re.MULTILINE)[1]


def changelog_section(root: Path, version: str) -> str | None:
    """Return what the changelog says of a version, without its heading; None if nothing."""
    text = (root / "CHANGELOG.md").read_text()
    head = rf"^## {re.escape(version)}(?: - \d{{4}}-\d\d-\d\d)?\n"
    found = re.search(rf"{head}(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() or None if found else None


def released_on(root: Path, version: str) -> str | None:
    """Return the date of a version's heading in the changelog."""
    text = (root / "CHANGELOG.md").read_text()
    found = re.search(rf"^## {re.escape(version)} - (\d{{4}}-\d\d-\d\d)$", text, re.MULTILINE)
    return found[1] if found else None


def problems(root: Path) -> list[str]:
    """Say which files do not agree on the version; "before the tag" is only for the tag."""
    version, found = version_of(root), []
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        found.append(f"version.py: {version} is not a version such as 0.2.0 or 0.2.0rc1")
    if changelog_section(root, version) is None:
        found.append(f"CHANGELOG.md: no section, or an empty one: ## {version} - YYYY-MM-DD")
    date = released_on(root, version)
    citation = (root / "CITATION.cff").read_text()
    for name, wanted in (("version", version), ("date-released", date)):
        said = re.search(rf"^{name}: (.+)$", citation, re.MULTILINE)
        if said is None or said[1] != wanted:
            is_now = "missing" if said is None else said[1]
            found.append(f"CITATION.cff: {name} is {is_now}, and CHANGELOG.md needs {wanted}")
    if changelog_section(root, "Unreleased"):
        found.append("before the tag: CHANGELOG.md has entries under Unreleased")
    return found


def console_commands(page: Path) -> list[str]:
    """Return the commands of a page's console blocks, in order, that a walk can run."""
    blocks = re.findall(r"^```console\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    text = "\n".join(blocks).replace("\\\n", " ")
    typed = [line[2:] for line in text.splitlines() if line.startswith("$ ")]
    return [command for command in typed if not command.startswith(NOT_WALKED)]
