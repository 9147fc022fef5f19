"""HTML from values: everything is escaped unless it is HTML already."""

import base64
import hashlib
import html
import json
from collections.abc import Mapping, Sequence

Attributes = Mapping[str, str | int | float | None]
VOID = {"img", "input", "link", "meta", "br"}


class Html(str):
    """Text that is HTML already; any other text is escaped on its way into a page."""

    __slots__ = ()


Child = Html | str | int | float | None


def el(name: str, attributes: Attributes, *children: Child) -> Html:
    """Write one element; attributes and children that are None are left out.

    >>> el("p", {"class": "lead", "id": None}, "1 < 2 ", el("b", {}, "yes"))
    '<p class="lead">1 &lt; 2 <b>yes</b></p>'
    """
    written = "".join(
        f' {key}="{html.escape(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    if name in VOID:
        return Html(f"<{name}{written}>")
    return Html(f"<{name}{written}>{join(children)}</{name}>")


def join(children: Sequence[Child]) -> Html:
    """Put children after each other, escaped where they are plain text.

    >>> join(["a & b", Html("<br>"), None])
    'a &amp; b<br>'
    """
    return Html("".join(_safe(child) for child in children if child is not None))


def _safe(child: Html | str | int | float) -> str:
    return child if isinstance(child, Html) else html.escape(str(child))


def data_block(name: str, content: object) -> Html:
    r"""Hold data for the page's script; `<` is written so that no text can end the block.

    >>> data_block("x", ["</script>"])
    '<script type="application/json" id="x">["\\u003c/script>"]</script>'
    """
    text = json.dumps(content, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    return Html(f'<script type="application/json" id="{html.escape(name)}">{text}</script>')


def script_hash(code: str) -> str:
    """Return the hash by which a content security policy allows one script and no other.

    >>> script_hash("")
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='
    """
    return "sha256-" + base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
