"""Whole files on this machine: fetched once, shared, bounded, and sound after a kill."""

import multiprocessing
import os
import shutil
import signal
import time
from pathlib import Path

import pytest

from counterpoint.data.stores import fetcher, shard_cache
from counterpoint.data.stores.cache_size import cache_bytes, parse_bytes
from counterpoint.data.stores.local_copies import LocalCopies
from counterpoint.data.stores.process_lives import lives_on, own_life
from counterpoint.data.stores.remote_files import RemoteFiles
from counterpoint.data.stores.retry import Patience
from counterpoint.data.stores.shard_cache import ShardCache
from stores_server.faults import Faults

SIZE = 200_000
NAMES = [f"{number}.tar" for number in range(6)]
QUICK = Patience(request=5, first=0.05, longest=0.2, in_all=60)


def content(name):
    return bytes(range(1, 251)) * (SIZE // 250) if name == "0.tar" else name.encode() * (SIZE // 5)


@pytest.fixture
def address(s3):
    for name in NAMES:
        s3.put(f"cached/{name}", content(name))
    return s3.address("cached")


def files_of(address, folder, most=10 * SIZE):
    return RemoteFiles(address, QUICK, copies=LocalCopies(ShardCache(folder, most)))


def reader(address, folder, names, edition="one"):
    """A process that expects files and reads them; it has two lines to say."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe()
    process = context.Process(target=_read, args=(address, folder, names, edition, there))
    process.start()
    return process, here


def _read(address, folder, names, edition, there):
    copies = LocalCopies(ShardCache(folder, 10**9))
    files = RemoteFiles(address, QUICK, edition, copies)
    files.expect(names)
    there.send("expects")
    starts = range(0, SIZE, 1000)
    there.send(sum(len(files.read(name, start, 1000)) for name in names for start in starts))


@pytest.mark.parametrize("edition", ["one", ""])
def test_processes_of_a_machine_fetch_a_file_once(address, s3, tmp_path, edition):
    processes = [reader(address, tmp_path, NAMES, edition) for _ in range(3)]
    for process, said in processes:
        assert (said.recv(), said.recv()) == ("expects", SIZE * len(NAMES))
        process.join()
    down = s3.counts()["keys"]
    assert {key: down[f"cached/{key}"] for key in NAMES} == dict.fromkeys(NAMES, SIZE)
    assert {path.name for path in (tmp_path / "claims").iterdir()} == set()


def test_machines_with_caches_of_their_own_fetch_their_own_files_once(address, s3, tmp_path):
    shares = [NAMES[:3], NAMES[3:]]
    processes = [reader(address, tmp_path / str(rank), names) for rank, names in enumerate(shares)]
    for process, said in processes:
        assert (said.recv(), said.recv()) == ("expects", SIZE * 3)
        process.join()
    assert s3.counts()["bytes down"] == SIZE * len(NAMES)


def test_a_reader_waits_for_what_is_on_its_way(address, s3, tmp_path):
    s3.break_it(Faults(stalls=1.0, stall_seconds=0.5))
    files = files_of(address, tmp_path)
    files.expect(NAMES)
    for name in NAMES:
        assert files.read(name, 1000, 10) == content(name)[1000:1010]
    assert s3.counts()["bytes down"] == SIZE * len(NAMES)


def test_random_access_does_not_fetch_whole_files(address, s3, tmp_path):
    files = files_of(address, tmp_path)
    for name in NAMES:
        assert files.read(name, 1000, 10) == content(name)[1000:1010]
    assert files.read_ranges("0.tar", [(0, 10), (50, 10), (150_000, 10)]) == [
        content("0.tar")[start : start + 10] for start in (0, 50, 150_000)
    ]
    assert s3.counts()["bytes down"] == 60 + 60 + 10  # two ranges that are close are one request


def test_a_fetch_that_was_killed_leaves_nothing_that_counts(address, s3, tmp_path):
    s3.break_it(Faults(stalls=1.0, stall_seconds=30))
    process, said = reader(address, tmp_path, NAMES)
    assert said.recv() == "expects"
    assert len(list((tmp_path / "claims").iterdir())) == len(NAMES)
    (tmp_path / "0123.99-99.part").write_bytes(b"what another left")
    os.kill(process.pid, signal.SIGKILL)
    process.join()
    s3.break_it()
    files = files_of(address, tmp_path)
    assert files.read("1.tar", 0, 10) == content("1.tar")[:10]  # a dead claim is not waited for
    files.expect(NAMES)
    for name in NAMES:
        assert files.read(name) == content(name)
    assert list(tmp_path.glob("*.part")) == []
    assert s3.counts()["bytes down"] == SIZE * len(NAMES) + 10


def test_the_cache_is_bounded_and_a_deleted_file_can_be_read_on(address, s3, tmp_path, monkeypatch):
    monkeypatch.setattr(shard_cache, "IN_USE", 0.1)
    files = files_of(address, tmp_path, most=int(2.5 * SIZE))
    for name in NAMES:
        files.expect([name])
        assert files.read(name, 0, 10) == content(name)[:10]
        whole = [path for path in tmp_path.iterdir() if path.is_file() and "." not in path.name]
        assert sum(path.stat().st_size for path in whole) <= 2.5 * SIZE
    s3.break_it()
    assert files.read(NAMES[0], 5000, 10) == content(NAMES[0])[5000:5010]
    assert s3.counts() == {"keys": {}}  # it was deleted, but is open here


def test_what_was_fetched_and_not_read_is_not_deleted_for_more(
    address, s3, tmp_path, monkeypatch, capfd
):
    monkeypatch.setattr(shard_cache, "IN_USE", 0.1)
    monkeypatch.setattr(fetcher, "LONGEST_WAIT", 3.0)
    files = files_of(address, tmp_path, most=int(2.5 * SIZE))
    files.expect(NAMES[:4])
    time.sleep(1.5)
    assert s3.counts()["bytes down"] == 2 * SIZE
    for name in NAMES[:4]:
        assert files.read(name, 0, 10) == content(name)[:10]
    assert s3.counts()["bytes down"] == 4 * SIZE
    assert "do not fit into 500,000 bytes of cache" in capfd.readouterr().err


def test_a_file_larger_than_the_cache_is_read_in_pieces(address, s3, tmp_path, capfd):
    files = files_of(address, tmp_path, most=1000)
    files.expect(["0.tar"])
    assert files.read("0.tar", 0, 10) == content("0.tar")[:10]
    assert "it is read in pieces" in capfd.readouterr().err
    assert s3.counts()["bytes down"] == 10


def test_another_version_is_another_copy(address, s3, tmp_path):
    files_of(address, tmp_path).expect(["1.tar"])
    assert files_of(address, tmp_path).read("1.tar", 0, 5) == b"1.tar"
    s3.put("cached/1.tar", b"other" * (SIZE // 5))
    again = files_of(address, tmp_path)
    assert again.read("1.tar", 0, 5) == b"other"


def test_a_lost_file_is_missing_at_once(address, s3, tmp_path):
    s3.break_it(Faults(lost=("cached/1.tar",)))
    files = files_of(address, tmp_path)
    files.expect(["1.tar"])
    with pytest.raises(FileNotFoundError):
        files.read("1.tar", 0, 10)


def test_a_cache_that_cannot_be_written_is_no_error(address, tmp_path, capfd):
    (tmp_path / "file").write_text("not a folder")
    files = files_of(address, tmp_path / "file")
    files.expect(NAMES)
    assert files.read("1.tar", 0, 10) == content("1.tar")[:10]
    assert "store   no cache in" in capfd.readouterr().err


def test_a_life_ends_with_its_process_and_is_not_inherited(tmp_path):
    name = own_life(tmp_path / "lives")
    assert lives_on(tmp_path / "lives", name)
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.write(write, own_life(tmp_path / "lives").encode())
        time.sleep(60)
        os._exit(0)
    other = os.read(read, 100).decode()
    assert other != name
    assert lives_on(tmp_path / "lives", other)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    assert not lives_on(tmp_path / "lives", other)
    assert lives_on(tmp_path / "lives", name)


def test_a_cache_that_is_emptied_while_a_process_lives_is_used_again(tmp_path):
    cache = ShardCache(tmp_path / "shards", 1000)
    assert cache.claim("before")
    shutil.rmtree(tmp_path / "shards")
    assert cache.claim("after")
    assert cache.on_its_way("after")  # else everybody would read it in pieces
    assert not cache.claim("after")


def test_the_bound_is_read_from_the_environment(monkeypatch, tmp_path):
    monkeypatch.setenv("COUNTERPOINT_SHARD_CACHE", "1.5 GB")
    assert cache_bytes(tmp_path) == 1_500_000_000
    monkeypatch.delenv("COUNTERPOINT_SHARD_CACHE")
    assert cache_bytes(tmp_path) > 1_000_000
    assert cache_bytes(Path("/proc/nothing")) == 0
    with pytest.raises(ValueError, match="COUNTERPOINT_SHARD_CACHE: got 'much'"):
        parse_bytes("much")


def test_the_size_of_a_cache_is_known_while_others_write_to_it(tmp_path, monkeypatch):
    """A part that another process renamed between two looks at it made the bound 0."""
    listed, there = Path.iterdir, Path.is_file
    gone = tmp_path / "key.life.part"
    monkeypatch.setattr(Path, "iterdir", lambda folder: iter([gone, *listed(folder)]))
    monkeypatch.setattr(Path, "is_file", lambda path: path == gone or there(path))
    assert cache_bytes(tmp_path) > 0
