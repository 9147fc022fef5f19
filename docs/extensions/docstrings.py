"""Make the API reference from docstrings, in the form that they have in the source.

A docstring has code in backticks, formulas as `$$ ... $$`, and examples as doctests, so that it
reads well in a terminal too. Here it becomes reStructuredText, which autodoc reads. Signatures are
shown as they are written in the source: `Float[Tensor, "image channel"]`.
"""

import re
from typing import Any

from signatures import source_signature
from sphinx.application import Sphinx
from sphinx.config import Config

CODE = re.compile(r"`([^`]+)`|(docs/[\w/-]+\.md)")
FORMULA = re.compile(r"\$([^$\n]+)\$")
LIST = re.compile(r"(?:[-*] |\d+\. )")
NUMBERED = re.compile(r"(\(?\w\)|\w\.) ")
SPECIAL = re.compile(r"[\\*|]|_(?!\w)")


def prose(line: str) -> str:
    """Return a line of text with its code marked and all else taken literally.

    >>> prose("the first `k`, see docs/paper.md")
    'the first ``k``, see ``docs/paper.md``'
    """
    made, end = [], 0
    for found in [*CODE.finditer(line), *FORMULA.finditer(line)]:
        if found.start() < end:
            continue  # inside of what was made already
        made.append(SPECIAL.sub(r"\\\g<0>", line[end : found.start()]))
        before = "\\ " if found.start() and line[found.start() - 1].isalnum() else ""
        end = found.end()
        after = "\\ " if line[end : end + 1].isalnum() else ""
        code = found[0].strip("`")
        marked = f":math:`{found[1]}`" if found.re is FORMULA else f"``{code}``"
        made.append(before + marked + after)
    made.append(SPECIAL.sub(r"\\\g<0>", line[end:]))
    return "".join(made)


def reworded(lines: list[str]) -> list[str]:
    """Return a docstring as reStructuredText, block by block.

    >>> reworded(["Return `x`.", "", "$$ a", "= b $$"])
    ['Return ``x``.', '', '.. math::', '', '   a = b', '']
    """
    made: list[str] = []
    for block in blocks(lines):
        if made and made[-1]:
            made.append("")
        made += _block(block)
    return [*made, ""] if made and made[-1] else made


def blocks(lines: list[str]) -> list[list[str]]:
    """Divide lines where one is blank; formulas also where they begin and end.

    >>> blocks(["a", "", "b", "$$ c $$", "d"])
    [['a'], ['b'], ['$$ c $$'], ['d']]
    """
    found: list[list[str]] = [[]]
    inside = False
    for line in lines:
        text = line.strip()
        opens = not inside and text.startswith("$$")
        if opens or not text:
            found.append([])
        if text:
            found[-1].append(line)
        inside = (opens or inside) and not (text.endswith("$$") and (inside or len(text) > 2))
        if not inside and text.endswith("$$"):
            found.append([])
    return [block for block in found if block]


def _block(block: list[str]) -> list[str]:
    first = block[0].strip()
    if first.startswith("$$"):
        formula = " ".join(line.strip() for line in block).strip("$").strip()
        return [".. math::", "", f"   {formula}", ""]
    if first.startswith(">>>"):
        return block
    if block[0].startswith("    "):
        return ["::", "", *(f"    {line}" for line in block), ""]
    if LIST.match(first):
        return [_item(line) for line in block]
    escaped = "\\" if NUMBERED.match(first) else ""
    return [escaped + prose(block[0]), *(prose(line) for line in block[1:])]


def _item(line: str) -> str:
    """Return a line of a list; its mark stays."""
    mark = LIST.match(line)
    return line[: mark.end()] + prose(line[mark.end() :]) if mark else prose(line)


def reword(
    _app: Sphinx, _what: str, _name: str, _object: Any, _options: Any, lines: list[str]
) -> None:
    """Change a docstring in place, as autodoc asks for."""
    lines[:] = reworded(lines)


def sign(
    _app: Sphinx, _what: str, _name: str, value: Any, _options: Any, given: str, result: str
) -> tuple[str, str]:
    """Return a signature as it is in the source, and autodoc's where there is none."""
    return source_signature(value) or (given, result)


def configure(_app: Sphinx, config: Config) -> None:
    """Set what autodoc and signatures need."""
    config.autodoc_default_options = {"members": True, "member-order": "bysource"}
    config.autodoc_class_signature = "mixed"
    config.autodoc_inherit_docstrings = False  # those of Lightning are long, and not in our form
    config.python_maximum_signature_line_length = 88
    config.python_display_short_literal_types = True
    # Types are shown as written; most are of other libraries, and lead nowhere here.
    config.nitpick_ignore_regex = [*config.nitpick_ignore_regex, ("py:.*", ".*")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Join Sphinx."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("config-inited", configure)
    app.connect("autodoc-process-docstring", reword)
    app.connect("autodoc-process-signature", sign)
    return {"version": "1", "parallel_read_safe": True}
