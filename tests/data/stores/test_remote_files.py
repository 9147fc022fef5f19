"""Files over S3's own protocol, through a proxy that fails."""

import pickle
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from torch.utils.data import DataLoader, Dataset

from counterpoint.address import check_scheme
from counterpoint.data.stores.files import Files
from counterpoint.data.stores.local_files import OPEN, LocalFiles
from counterpoint.data.stores.remote_files import RemoteFiles
from counterpoint.data.stores.retry import Patience, StoreFailure
from counterpoint.data.stores.retry_log import retry_log
from stores_server.faults import Faults
from stores_server.store import SECRET

CONTENT = {f"{name}.tar": bytes(range(256)) * 40 * (place + 1) for place, name in enumerate("abcd")}
QUICK = Patience(request=2, first=0.02, longest=0.2, in_all=30)


@pytest.fixture
def remote(s3):
    for name, content in CONTENT.items():
        s3.put(f"plain/{name}", content)
    return RemoteFiles(s3.address("plain"), QUICK)


@pytest.fixture
def folder(tmp_path):
    for name, content in CONTENT.items():
        (tmp_path / name).write_bytes(content)
    return LocalFiles(tmp_path)


@pytest.mark.parametrize("kind", ["remote", "folder"])
def test_the_contract(kind, request):
    files = request.getfixturevalue(kind)
    assert isinstance(files, Files)
    assert files.names() == sorted(CONTENT)
    for name, content in CONTENT.items():
        assert files.size(name) == len(content)
        assert files.read(name) == content
        assert files.read(name, 100) == content[100:]
        assert files.read(name, 100, 50) == content[100:150]
        assert files.read(name, 7, 0) == b""
        ranges = [(9000, 100), (0, 10), (300, 5), (20, 10)]
        assert files.read_ranges(name, ranges) == [content[a : a + n] for a, n in ranges]
    with pytest.raises(FileNotFoundError):
        files.read("z.tar", 0, 1)
    with pytest.raises(FileNotFoundError):
        files.size("z.tar")
    for start, length in ((10_200, 100), (20_000, 1)):
        with pytest.raises(OSError, match="too early"):
            files.read("a.tar", start, length)
    for name in ("../a.tar", "/etc/passwd", "x/../../a.tar", "", "a\0b"):
        with pytest.raises(ValueError, match="leaves its folder"):
            files.read(name, 0, 1)
    again = pickle.loads(pickle.dumps(files))
    assert again.read("a.tar", 0, 9) == CONTENT["a.tar"][:9]
    assert again.place == files.place


def test_the_version_changes_with_the_file(remote, s3):
    before = remote.version("a.tar")
    assert remote.version("a.tar") == before
    s3.put("plain/a.tar", CONTENT["a.tar"][::-1])
    assert remote.version("a.tar") != before


def test_a_bad_store_gives_every_byte(remote, s3, capfd):
    retry_log().said = -1e9
    s3.break_it(Faults(seed=1, errors=0.2, resets=0.2, truncated=0.2))
    for name, content in CONTENT.items():
        for start in range(0, 3000, 500):
            assert remote.read(name, start, 700) == content[start : start + 700]
        assert remote.size(name) == len(content)
    assert remote.names() == sorted(CONTENT)
    counts = s3.counts()
    for kind in ("error 500", "error 503", "reset", "truncated short", "truncated cut"):
        assert counts[kind] > 0, kind
    said = capfd.readouterr().err
    assert "store   read s3://bucket/plain/" in said
    assert SECRET not in said


def test_a_request_that_stalls_is_asked_again(remote, s3):
    s3.break_it(Faults(seed=3, stalls=0.5, stall_seconds=60))
    files = RemoteFiles(remote.address, Patience(request=0.3, first=0.02, in_all=30))
    began = time.monotonic()
    for start in range(8):
        assert files.read("a.tar", start, 10) == CONTENT["a.tar"][start : start + 10]
    assert s3.counts()["stall"] > 0
    assert time.monotonic() - began < 20


def test_an_outage_is_waited_for_and_a_long_one_ends_the_run(remote, s3):
    s3.down(2)
    assert remote.read("a.tar", 0, 10) == CONTENT["a.tar"][:10]
    s3.down(60)
    with pytest.raises(StoreFailure, match=r"read s3://bucket/plain/a.tar failed \d+ times"):
        RemoteFiles(remote.address, Patience(request=1, in_all=1)).read("a.tar", 0, 10)


def test_a_lost_key_is_not_waited_for(remote, s3):
    s3.break_it(Faults(lost=("plain/b.tar",)))
    before = retry_log().counts["retries"]
    with pytest.raises(FileNotFoundError):
        remote.read("b.tar", 0, 10)
    assert retry_log().counts["retries"] == before


class Pieces(Dataset):
    def __init__(self, files):
        self.files = files

    def __len__(self):
        return 40

    def __getitem__(self, place):
        return self.files.read("d.tar", place * 11, 100)


def test_forked_workers_read_with_connections_of_their_own(remote):
    assert remote.read("d.tar", 0, 9) == CONTENT["d.tar"][:9]  # the parent has a loop already
    loader = DataLoader(Pieces(remote), batch_size=None, num_workers=2)
    for _ in range(2):
        assert list(loader) == [CONTENT["d.tar"][p * 11 : p * 11 + 100] for p in range(40)]
    assert remote.read("d.tar", 0, 9) == CONTENT["d.tar"][:9]


@pytest.mark.parametrize("kind", ["remote", "folder"])
def test_threads_read_at_once(kind, request):
    files = request.getfixturevalue(kind)
    names = sorted(CONTENT)
    places = [(names[n % 4], n * 7, 64) for n in range(60)]
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda place: files.read(*place), places))
    assert found == [CONTENT[name][a : a + n] for name, a, n in places]


def test_a_descriptor_is_not_closed_under_a_reader(tmp_path):
    """More files than are kept open, read by threads: the wrong bytes would be another file's."""
    count = OPEN * 2
    for number in range(count):
        (tmp_path / f"{number}").write_bytes(number.to_bytes(4) * 64)
    files = LocalFiles(tmp_path)

    def check(number):
        number = number * 37 % count
        return files.read(f"{number}", 0, 256) == number.to_bytes(4) * 64

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)  # threads take turns within every step
    try:
        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(check, range(6000)))
    finally:
        sys.setswitchinterval(before)
    assert len(files.descriptors) <= OPEN


def test_an_unknown_scheme_is_one_line():
    with pytest.raises(ValueError, match=r"data: got nope://x; nope:// is not known"):
        check_scheme("nope://x", what="data")


LAZY = """
import sys
from counterpoint.address import check_scheme
from counterpoint.data.stores.remote_files import RemoteFiles
assert not {"s3fs", "botocore", "aiohttp"} & set(sys.modules)
sys.modules["s3fs"] = None
try:
    check_scheme("s3://bucket/set", what="data")
except ImportError as error:
    assert "pip install 'counterpoint[stores]'" in str(error), error
else:
    raise AssertionError("s3fs is not there")
"""


def test_packages_of_stores_are_imported_when_needed_and_named_when_missing():
    subprocess.run([sys.executable, "-c", LAZY], check=True)
