"""Plain tars (USTAR, POSIX.1-1988) without times and owners: the same records, the same bytes."""

BLOCK = 512  # bytes
END = bytes(2 * BLOCK)  # two blocks of zeros end an archive
OWNER = b"0000644\0" + b"0000000\0" * 2  # mode, user, group
TIME = b"00000000000\0"
REST = (
    b"0".ljust(101, b"\0")  # a plain file, no link
    + b"ustar\00000".ljust(72, b"\0")  # no names of owners
    + b"0000000\0" * 2  # device
).ljust(BLOCK - 156, b"\0")
FIXED = sum(OWNER) + sum(TIME) + 8 * ord(" ") + sum(REST)
"""The part of the checksum that is the same for all files; its own field counts as spaces."""


def tar_header(name: str, size: int) -> bytes:
    """Return the header of one file.

    >>> import io, tarfile
    >>> archive = tar_header("000000.jpg", 3) + tar_padded(b"abc") + END
    >>> tarfile.open(fileobj=io.BytesIO(archive)).extractfile("000000.jpg").read()
    b'abc'
    """
    encoded = name.encode("ascii")
    assert 0 < len(encoded) <= 100, name
    assert 0 <= size < 8**11, size
    name_field, size_field = encoded.ljust(100, b"\0"), b"%011o\0" % size
    check = FIXED + sum(encoded) + sum(size_field)
    return b"".join((name_field, OWNER, size_field, TIME, b"%06o\0 " % check, REST))


def tar_padded(content: bytes) -> bytes:
    """Fill content up to whole blocks."""
    return content + bytes(-len(content) % BLOCK)
