"""Small tables for notebooks: escaped, without colours of their own, without a network."""

import html
from collections.abc import Sequence

LINE = "1px solid rgba(128, 128, 128, 0.4)"  # seen on white and on black
CELL = "text-align: left; vertical-align: top; padding: 0.2em 0.8em"


def html_table(rows: Sequence[Sequence[str]], *, head: Sequence[str] = (), title: str = "") -> str:
    """Return an HTML table of plain text.

    >>> html_table([["a < b", "1"]], title="two").count("&lt;")
    1
    """
    caption = f'<caption style="text-align: left">{html.escape(title)}</caption>' if title else ""
    lines = [_row(head, "th")] if head else []
    lines += [_row(row, "td") for row in rows]
    style = f"border-collapse: collapse; border-top: {LINE}; border-bottom: {LINE}"
    return f'<table style="{style}">{caption}{"".join(lines)}</table>'


def _row(cells: Sequence[str], kind: str) -> str:
    written = (f'<{kind} style="{CELL}">{html.escape(cell)}</{kind}>' for cell in cells)
    return f"<tr>{''.join(written)}</tr>"
