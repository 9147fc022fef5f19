"""A command given twice at once: the second is refused and says who writes, the first goes on."""

import signal
import sys
import time
from pathlib import Path

import pytest

import forked
from counterpoint.cli import main

RUNS = Path(__file__).parents[1] / "golden" / "runs"
SHARD = ["shard", "{data}", "{out}", "--images", "20", "--workers", "0"]
EMBED = ["embed", str(RUNS / "simclr-files"), "{data}", "--out", "{out}"]


@pytest.fixture
def paused():
    """Give a function that begins a command and stops it when it has come far enough."""
    begun = []

    def begin(words, far_enough):
        command = [sys.executable, "-c", "from counterpoint.cli import main; main()", *words]
        begun.append(forked.Popen(command))
        while not far_enough():
            assert begun[0].poll() is None, "it was over before anybody could look"
            time.sleep(0.001)
        begun[0].send_signal(signal.SIGSTOP)
        return begun[0]

    yield begin
    for process in begun:
        process.kill()
        process.wait()


def known(folder):
    """What a file would not keep if somebody wrote it."""
    files = [file for file in folder.rglob("*") if file.is_file()]
    return {file: (file.stat().st_ino, file.stat().st_mtime_ns) for file in files}


@pytest.mark.parametrize(
    ("words", "lock"),
    [(SHARD, ".parts/job.lock"), (EMBED, ".embed.lock")],
    ids=["shard", "embed"],
)
def test_the_second_is_refused_and_the_first_goes_on(data, tmp_path, capfd, paused, words, lock):
    out = tmp_path / "out"
    words = [word.format(data=data / "caltech20", out=out) for word in words]
    first = paused(words, lambda: list(out.glob("*.tar")) or list(out.glob("part-*")))
    there = known(out)
    assert out / lock in there
    with pytest.raises(SystemExit, match=rf"process {first.pid} on .*kill {first.pid}"):
        main(words)
    assert known(out) == there
    first.send_signal(signal.SIGCONT)
    assert first.wait() == 0
    assert not (out / lock).exists()
    capfd.readouterr()
    main(words)
    assert "nothing to do" in capfd.readouterr().out
    assert not (out / lock).exists()


@pytest.mark.parametrize("words", [SHARD, EMBED], ids=["shard", "embed"])
def test_one_that_was_killed_keeps_nobody_out(data, tmp_path, paused, words):
    out = tmp_path / "out"
    words = [word.format(data=data / "caltech20", out=out) for word in words]
    left = "*.tar.unfinished-*" if words[0] == "shard" else "part-*"
    first = paused(words, lambda: list(out.glob(left)))
    first.kill()
    first.wait()
    main(words)
    assert not list(out.glob("*unfinished*"))
    assert not list(out.rglob("*.lock"))
