"""Data sets at an address of an object store: shards, and nothing that is a file an image."""

import hashlib
from dataclasses import replace

from counterpoint.address import check_scheme
from counterpoint.data.formats import SUFFIXES
from counterpoint.data.layouts.parquet_stream import parquet_among, stream_parquet
from counterpoint.data.layouts.shards import open_shards
from counterpoint.data.layouts.tars import open_tars, tars_among
from counterpoint.data.shards.shard_manifest import KIND, MANIFEST, MOST_BYTES
from counterpoint.data.shards.shard_table import TABLE
from counterpoint.data.shards.tar_writer import index_name
from counterpoint.data.splits import Splits
from counterpoint.data.stores.remote_files import RemoteFiles


def open_address(address: str) -> Splits:
    """Open the shards, tars or Parquet files at an address.

    Of shards with a manifest, manifest and table are read; other files are listed, so that an
    address must not be the top of a bucket with a billion files.
    """
    check_scheme(address, what="data")
    files = RemoteFiles(address)
    known = _manifest(files)
    if known is not None:
        edition = hashlib.sha256(known).hexdigest()
        own = replace(files, edition=edition)
        own.expect([TABLE])  # it is read twice: to check it, and to use it
        return open_shards(own)
    return _listed(files)


def _manifest(files: RemoteFiles) -> bytes | None:
    try:
        size = files.size(MANIFEST)
    except FileNotFoundError:
        return None
    found = files.read(MANIFEST, 0, min(size, MOST_BYTES))
    return found if KIND.encode() in found[:256] else None


def _listed(files: RemoteFiles) -> Splits:
    """Open tars or Parquet files by the listing; refuse what is neither."""
    names = files.names()
    if names in ([], [""]):  # what a listing says of a single file
        return _file(files)
    pictures = sum(name.lower().endswith(SUFFIXES) for name in names)
    if pictures:
        raise ValueError(
            f"data: {files.place} holds {pictures:,} single images, and a request for each of them "
            "in each epoch is too slow; write shards of them: counterpoint shard DATA OUT"
        )
    title = files.place.rpartition("/")[2]
    tars, indices = tars_among(names)
    if tars:
        return open_tars(files, tars, indices, name=title)
    if tables := parquet_among(names):
        return stream_parquet(files, tables, name=title)
    there = ", ".join(names[:9]) + (", ..." if len(names) > 9 else "")
    raise _nothing(files, there)


def _file(files: RemoteFiles) -> Splits:
    """Open an address that is one file."""
    folder, _, name = files.place.rpartition("/")
    above = replace(files, address=folder)
    if name.endswith(".tar"):
        beside = {index_name(name)} & set(above.names())
        return open_tars(above, {"train": (name,)}, beside, name=name)
    if name.endswith(".parquet"):
        return stream_parquet(above, {"train": (name,)}, name=name)
    raise _nothing(files, "nothing")


def _nothing(files: RemoteFiles, there: str) -> FileNotFoundError:
    return FileNotFoundError(
        f"data: {files.place} has no {MANIFEST}, no tars and no Parquet files; found {there}"
    )
