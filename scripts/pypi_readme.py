"""README.md as PyPI shows it: the build asks this file for it (pyproject.toml, hatch's hooks).

PyPI has no files beside the page, so a picture or a link that is relative to the repository is
broken there. Where `[project.urls]` has a `Repository`, they become addresses of the version's tag;
where it has none, pictures are left out and links become plain text.
"""

import re
from pathlib import Path
from typing import Any

try:
    from hatchling.metadata.plugin.interface import MetadataHookInterface
except ImportError:  # the functions below need only Python
    MetadataHookInterface = object

PICTURE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)\n*")
LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)\s]+)\)")
ELSEWHERE = ("https://", "http://", "mailto:", "#")


class CustomMetadataHook(MetadataHookInterface):
    """Give the wheel and the sdist their description."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the description of the project."""
        root = Path(self.root)
        source = (root / "src/counterpoint/version.py").read_text()
        version = re.search(r'VERSION = "(.+)"', source)[1]
        text = readme_for_pypi(
            (root / "README.md").read_text(),
            version=version,
            repository=metadata.get("urls", {}).get("Repository"),
        )
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def readme_for_pypi(text: str, *, version: str, repository: str | None) -> str:
    r"""Return the README without anything that only the repository can show.

    >>> text = "![A plot](docs/a.png)\n\nSee [data](docs/data.md), [it](https://arxiv.org)."
    >>> readme_for_pypi(text, version="0.2.0", repository=None)
    'See data, [it](https://arxiv.org).'
    >>> print(readme_for_pypi(text, version="0.2.0", repository="https://host/us/counterpoint"))
    ![A plot](https://host/us/counterpoint/raw/v0.2.0/docs/a.png)
    <BLANKLINE>
    See [data](https://host/us/counterpoint/blob/v0.2.0/docs/data.md), [it](https://arxiv.org).
    """

    def picture(found: re.Match[str]) -> str:
        if found[2].startswith(ELSEWHERE):
            return found[0]
        if repository is None:
            return ""
        return found[0].replace(f"({found[2]})", f"({repository}/raw/v{version}/{found[2]})")

    def link(found: re.Match[str]) -> str:
        if found[2].startswith(ELSEWHERE):
            return found[0]
        if repository is None:
            return found[1]
        return f"[{found[1]}]({repository}/blob/v{version}/{found[2]})"

    return LINK.sub(link, PICTURE.sub(picture, text))
