"""counterpoint search."""

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from counterpoint.cli.early import refuse_early, refuse_store

if TYPE_CHECKING:
    from counterpoint.vectors import Vectors


def search_command(
    vectors: str,
    queries: list[str],
    *,
    count: int = 12,
    out: str | None = None,
    json: bool = False,
    index: Literal["auto", "exact", "ivfpq"] = "auto",
    run: str | None = None,
    device: str | None = None,
) -> None:
    """Find the images nearest to a query, among those that embed wrote vectors of.

    A query is an image file, or the number or path of an image in the folder.

    Example:
        counterpoint search vectors photos/cat.jpg --out gallery.html

    Args:
        vectors: Folder that counterpoint embed wrote.
        queries: Image files, or numbers or paths of images in the folder.
        count: Images to find for each query.
        out: HTML page to write, with pictures; it needs no network (default: none).
        json: Print JSON instead of a table.
        index: "exact" compares with every vector; "ivfpq" builds an index of faiss once, keeps
            it in the folder, and compares its shortlist exactly; "auto" is exact up to 2 million.
        run: Folder of the run that embeds image files (default: the encoder of the vectors).
        device: Where to compute, such as cpu or cuda:1 (default: an accelerator if there is one).
    """
    _refuse_folder(vectors)
    refuse_early(run=run)
    if out is not None:
        refuse_store(out)
    if out is not None and Path(out).suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"--out is {out!r}; it needs the name of a page, such as gallery.html")
    from counterpoint.run import Run
    from counterpoint.search.query_words import embed_queries, find_queries
    from counterpoint.search.search_page import search_page
    from counterpoint.search.search_record import found_records
    from counterpoint.search.vector_search import chosen_index, search_vectors
    from counterpoint.vectors import Vectors

    opened = Vectors.open(vectors)
    found = embed_queries(
        opened,
        find_queries(opened, queries),
        run=None if run is None else Run.open(run),
        device=device,
    )
    near = search_vectors(opened, found.vectors, count=count, index=index, without=found.rows)
    records = found_records(opened, found.asked, near)
    how = {"exact": "compared with every vector", "ivfpq": "by an index, its shortlist exactly"}
    if out is not None:
        page = search_page(opened, found.asked, records, how=how[chosen_index(opened, index)])
        Path(out).parent.mkdir(parents=True, exist_ok=True)
        Path(out).write_text(page, encoding="utf-8")
    _say(opened, records, out, as_json=json)


def _refuse_folder(folder: str) -> None:
    """Refuse anything that is not a folder of vectors, before torch is imported."""
    if not (Path(folder) / "vectors.json").is_file():
        raise FileNotFoundError(
            f"vectors: {folder} has no vectors.json; counterpoint embed RUN DATA --out "
            f"{shlex.quote(folder)} writes one"
        )


def _say(
    opened: "Vectors", records: list[dict[str, Any]], out: str | None, *, as_json: bool
) -> None:
    """Print what was found, and what comes next."""
    import json

    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    if as_json:
        sys.stdout.write(json.dumps(records, indent=2) + "\n")
        return
    console = Console(highlight=False)
    for record in records:
        table = Table(title=escape(f"nearest to {record['query']}"), title_justify="left")
        table.add_column("cosine", justify="right")
        table.add_column("sample", justify="right")
        table.add_column("image", overflow="fold")
        table.add_column("split")
        if opened.labels is not None:
            table.add_column("label")
        for one in record["found"]:
            known = "" if one["label"] is None else escape(str(one["label"]))
            label = () if opened.labels is None else (known,)
            image = escape(one["path"] or f"image {one['sample']}")
            table.add_row(f"{one['cosine']:.3f}", str(one["sample"]), image, one["split"], *label)
        console.print(table)
    if out is not None:
        console.print(f"the pictures: [bold]{escape(out)}[/]", soft_wrap=True)
    else:
        console.print("to see the pictures, add --out gallery.html")
