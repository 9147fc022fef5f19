"""Damaged and hostile files of every format that shards have: made from sound ones by a seed."""

import hashlib
import io
import json
import random
import struct
import tarfile
import zlib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
from PIL import Image

from counterpoint.data.shards.shard_folder import finish_shards
from counterpoint.data.shards.shard_manifest import ShardManifest, SplitRecord
from counterpoint.data.shards.tar_writer import Record, write_shard
from data.shards.packs import STRUCT, add

NUMBERS = (0, 1, -1, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**63 - 1, -(2**63), 10**30)
NAMES = (
    "../../out.jpg",
    "/etc/passwd",
    "a/../../b.jpg",
    "..",
    "",
    "a\nb.jpg",
    "x" * 5000,
    "C:\\a.jpg",
)


def picture(number):
    pixels = np.random.default_rng(number).integers(
        256, size=(9, 9 + number % 3, 3), dtype=np.uint8
    )
    buffer = io.BytesIO()
    Image.fromarray(pixels).save(buffer, "PNG")
    return buffer.getvalue()


PICTURES = [picture(n) for n in range(12)]


def flipped(data, rng, many=None):
    """Change some bits, bytes and stretches."""
    data = bytearray(data)
    for _ in range(many or rng.choice((1, 1, 2, 8, 40))):
        place = rng.randrange(len(data))
        what = rng.randrange(4)
        if what == 0:
            data[place] ^= 1 << rng.randrange(8)
        elif what == 1:
            data[place] = rng.choice((0, 255, 128, 127, rng.randrange(256)))
        elif what == 2:
            number = rng.choice(NUMBERS) & (2**64 - 1)
            data[place : place + 8] = struct.pack("<Q", number)
        else:
            data[place : place + rng.randrange(1, 30)] = rng.randbytes(rng.randrange(30))
    return bytes(data)


def cut(data, rng):
    where = rng.choice((rng.randrange(len(data) + 1), max(0, len(data) - rng.randrange(1, 40))))
    return data[:where]


def damaged(data, rng):
    return (cut if rng.random() < 0.25 else flipped)(data, rng)


# Tars.


def summed(header):
    """Give a header its checksum, so that what is wrong with it is believed that far."""
    header = bytearray(header)
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\0 " % sum(header)
    return bytes(header)


def tar_with(members, form):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=form) as tar:
        for name, content, more in members:
            add(tar, name, content, **more)
    return buffer.getvalue()


def hostile_members(rng):
    for number, content in enumerate(PICTURES):
        name = rng.choice(NAMES) if rng.random() < 0.3 else f"{number:06d}.png"
        more = {}
        if rng.random() < 0.2:
            kinds = (tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.DIRTYPE, b"S", b"Z")
            more = {"type": rng.choice(kinds), "linkname": rng.choice(("/etc/passwd", "..", "a"))}
        yield name or "e.png", content, more
        if rng.random() < 0.5:
            yield f"{number:06d}.cls", rng.choice((b"1", b"-1", b"x", b"9" * 5000, b"")), {}
        if rng.random() < 0.3:
            nested = rng.choice((b"[", b'{"a":', b'{"label":'))
            yield f"{number:06d}.json", nested * rng.choice((1, 500, 7000)), {}


def one_tar(rng):
    form = rng.choice((tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT))
    plain = ((f"{n:06d}.png", content, {}) for n, content in enumerate(PICTURES))
    try:
        data = tar_with(hostile_members(rng) if rng.random() < 0.5 else plain, form)
    except (ValueError, UnicodeError):  # tarfile itself refuses to write it
        data = tar_with([("a.png", PICTURES[0], {})], form)
    what = rng.choice((0, 1, 2, 3, 3))
    if what == 0:
        return damaged(data, rng)
    if what == 1:  # a header that is wrong, with a sum that is right
        places = [p for p in range(0, len(data) - 511, 512) if data[p + 257 : p + 262] == b"ustar"]
        place = rng.choice(places)
        header = bytearray(data[place : place + 512])
        size = rng.choice(
            (b"77777777777\0", b"\x80" + b"\xff" * 11, b"\xff" * 12, b"-0000000001\0")
        )
        header[124:136] = rng.choice((size, b"%011o\0" % rng.randrange(1 << 20)))
        header[156:157] = rng.choice((b"0", b"L", b"K", b"x", b"g", b"S", b"1", b"5", b"\0"))
        header[482] = rng.choice((0, 1))
        return data[:place] + summed(header) + data[place + 512 :]
    if what == 2:
        records = rng.choice(
            (
                b"99 path=a\n",
                b"12 path=abc\n",
                b"10 path=\n",
                b"16 path=a/b.png\n",
                b"0 size=1\n",
                b"30 size=99999999999999999999\n",
            )
        )
        head = summed(
            tarfile.TarInfo("x").tobuf(tarfile.USTAR_FORMAT)[:124]
            + b"%011o\0" % len(records)
            + bytes(20)
            + b"x"
            + bytes(100)
            + b"ustar\00000"
            + bytes(247)
        )
        return head + records.ljust(512, b"\0") + data
    return data


def write_tar_case(place, rng):
    for number in range(rng.choice((1, 2))):
        (place / f"{rng.choice(('train', 'train', 'a', 'a', 'val'))}-{number}.tar").write_bytes(
            one_tar(rng)
        )


# Our shards: tars, indices, manifest and table.


def write_shard_folder(place, *, labels=True):
    rows = []
    for number, split in enumerate(("train", "train", "test")):
        records = [Record(c, "PNG", f"{n}.png", n % 3) for n, c in enumerate(PICTURES)]
        rows.append(write_shard(place, f"{split}-{number:05d}.tar", split, records, labels=labels))
    splits = {
        "train": SplitRecord("a train", 24, 2, labels=labels),
        "test": SplitRecord("a test", 12, 1, labels=labels),
    }
    manifest = ShardManifest(
        splits=splits, classes=("a", "b", "c"), key=0, lanes=1, left_out=0, table="00" * 32
    )
    finish_shards(place, rows, manifest)


def write_index_case(place, rng):
    """An index of ours that is wrong, mostly with a checksum that is right."""
    write_shard_folder(place)
    file = rng.choice(sorted(place.glob("*.idx")))
    data = file.read_bytes()
    new = bytearray(damaged(data, rng))
    count = len(PICTURES)
    head = 32 + count * 20
    if rng.random() < 0.7 and len(new) >= head + 4:
        new[:8] = data[:8]
        new[head : head + 4] = struct.pack("<I", zlib.crc32(bytes(new[:head])))
        if len(new) > head + 8:
            new[-4:] = struct.pack("<I", zlib.crc32(bytes(new[head + 4 : -4])))
    file.write_bytes(new)
    if rng.random() < 0.5:  # without a manifest the tars are foreign ones with an index beside
        (place / "manifest.json").unlink()
        (place / "shards.parquet").unlink()


def write_shard_tar_case(place, rng):
    write_shard_folder(place)
    file = rng.choice(sorted(place.glob("*.tar")))
    file.write_bytes(damaged(file.read_bytes(), rng))


def changed(value, rng, depth=0):
    """Put something else somewhere into a JSON value."""
    if rng.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return rng.choice((*NUMBERS, *NAMES, None, True, [], {}, 1.5, "train", [[]] * 9))
    if isinstance(value, list):
        place = rng.randrange(len(value))
        return [changed(v, rng) if n == place else v for n, v in enumerate(value)]
    key = rng.choice(sorted(value))
    new = {k: changed(v, rng) if k == key else v for k, v in value.items()}
    if rng.random() < 0.2:
        new.pop(key)
    return new


def write_manifest_case(place, rng):
    write_shard_folder(place)
    file = place / "manifest.json"
    data = file.read_bytes()
    what = rng.randrange(4)
    if what == 0:
        data = damaged(data, rng)
    elif what == 1:
        data = rng.choice((b"[", b'{"a":', b'{"splits":', b"1")) * rng.choice((1, 5000, 200_000))
    else:
        data = json.dumps(changed(json.loads(data), rng)).encode()
    file.write_bytes(data)


def write_table_case(place, rng):
    """A table of shards that is wrong; mostly the manifest says that it is right."""
    write_shard_folder(place)
    file = place / "shards.parquet"
    data = file.read_bytes()
    if rng.random() < 0.5:
        table = parquet.read_table(file)
        column = rng.choice(table.column_names)
        number = table.column_names.index(column)
        if column in ("name", "split"):
            values = pa.array([rng.choice((*NAMES, "train-00000.tar", None)) for _ in range(3)])
        else:
            values = pa.array([rng.choice((*NUMBERS[:4], None, 3)) for _ in range(3)], pa.int64())
        table = table.set_column(number, column, values.cast(values.type))
        how = rng.choice(("zstd", "none", "snappy"))
        parquet.write_table(table, file, compression=how)
        data = file.read_bytes()
    else:
        data = damaged(data, rng)
    file.write_bytes(data)
    if rng.random() < 0.8:
        manifest = json.loads((place / "manifest.json").read_text())
        manifest["table"] = hashlib.sha256(data).hexdigest()
        (place / "manifest.json").write_text(json.dumps(manifest))


# Parquet.


def sound_parquet(rng):
    nested, more = rng.random() < 0.7, {}
    rows = [{"bytes": c, "path": f"{n}.png"} for n, c in enumerate(PICTURES)]
    image = pa.array(rows, STRUCT) if nested else pa.array(PICTURES, pa.binary())
    features = {"image": {"_type": "Image"}, "label": {"_type": "ClassLabel", "names": ["a", "b"]}}
    said = {"info": {"features": features}}
    if rng.random() < 0.3:
        said = changed(said, rng)
    text = json.dumps(said).encode()
    if rng.random() < 0.1:
        text = rng.choice((b"[", b'{"info":')) * rng.choice((1, 900, 100_000))
    label = pa.array([rng.choice((0, 1)) for _ in PICTURES], pa.int64())
    if rng.random() < 0.2:
        label = pa.array([rng.choice(NUMBERS[:8]) % 2**62 - 3 for _ in PICTURES], pa.int64())
    table = pa.table({"image": image, "label": label}).replace_schema_metadata(
        {b"huggingface": text}
    )
    buffer = io.BytesIO()
    if not nested and rng.random() < 0.2:
        more = {"use_dictionary": False, "column_encoding": {"image": "DELTA_BYTE_ARRAY"}}
    parquet.write_table(
        table,
        buffer,
        row_group_size=rng.choice((3, 5, 12)),
        compression=rng.choice(("none", "snappy", "zstd", "gzip")),
        data_page_version=rng.choice(("1.0", "2.0")),
        **more,
    )
    return buffer.getvalue()


def write_parquet_case(place, rng):
    data = sound_parquet(rng)
    what = rng.randrange(5)
    if what == 0:
        data = cut(data, rng)
    elif what == 1:
        data = flipped(data, rng)
    elif what == 2:  # in the footer, where sizes, offsets and counts are
        length = int.from_bytes(data[-8:-4], "little")
        start = len(data) - 8 - length
        footer = flipped(data[start:-8], rng, rng.choice((1, 1, 2, 3)))
        data = data[:start] + footer + struct.pack("<I", len(footer)) + b"PAR1"
    elif what == 3:  # in the first page header
        data = data[:4] + flipped(data[4:60], rng, rng.choice((1, 2))) + data[60:]
    else:
        data = data[:-8] + struct.pack("<I", rng.choice((0, 1, 2**31, 2**32 - 1))) + b"PAR1"
    (place / f"train-{rng.randrange(2)}.parquet").write_bytes(data)


WRITERS = (
    *(write_tar_case, write_index_case, write_shard_tar_case, write_manifest_case),
    *(write_table_case, write_parquet_case, write_parquet_case),
)
"""Seven in turn, so that 5,000 cases have 714 of each and twice as many of Parquet."""


def write_case(number, place):
    """Write case `number` into an empty folder; return what it is."""
    rng = random.Random(number)
    writer = WRITERS[number % len(WRITERS)]
    writer(place, rng)
    return writer.__name__.removeprefix("write_").removesuffix("_case")
