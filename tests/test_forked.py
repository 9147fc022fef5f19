"""A forked command is the command: the same words, the same end, and a process of its own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import forked

COUNTERPOINT = Path(sys.executable).with_name("counterpoint")
WAITS = """
import signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a session may have been started without
print("ready", flush=True)
time.sleep(60)
"""
TELLS = """
import atexit, os, sys, threading
atexit.register(print, "last")
threading.Timer(0.1, print, ["of a thread"]).start()
print(sys.argv, os.getcwd(), os.environ["COUNTERPOINT_X"], "PYTEST_VERSION" in os.environ)
print(sys.stdin.read(), __name__, sys.path[0], sys.stdout.encoding, file=sys.stderr)
sys.exit("as a text" if sys.argv[1] == "text" else 7)
"""
COMMANDS = {
    "the version": [COUNTERPOINT, "--version"],
    "parts": [COUNTERPOINT, "anatomy", "simclr"],
    "a wrong option": [COUNTERPOINT, "pretrain", "nowhere", "--encodr", "small", "--out", "x"],
    "no data": [COUNTERPOINT, "pretrain", "nowhere", "--out", "x"],
    "a code": [sys.executable, "-c", TELLS, "code", "two words"],
    "a text": [sys.executable, "-c", TELLS, "text"],
    "an error": [sys.executable, "-c", "def f():\n    1 / 0\nf()"],
    "a signal to itself": [sys.executable, "-c", "import os; os.abort()"],
}


@pytest.fixture(autouse=True)
def server(monkeypatch):
    """Return the server, in the environment that it was started in: other tests change theirs."""
    for name in os.environ.keys() | forked.ENVIRONMENT.keys():
        if name.startswith(forked.MAY_DIFFER):
            continue
        if name in forked.ENVIRONMENT:
            monkeypatch.setenv(name, forked.ENVIRONMENT[name])
        else:
            monkeypatch.delenv(name)
    found = forked.the_server(os.getpid())
    if found is None or found.tasks != 1:
        pytest.skip("no fork: the imports start threads here; OMP_NUM_THREADS=1 has none")
    return found


@pytest.mark.parametrize("name", COMMANDS)
def test_a_forked_command_says_and_ends_the_same(name, tmp_path, monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_X", name)
    options = {"cwd": tmp_path, "input": "typed", "capture_output": True, "text": True}
    expected = subprocess.run(COMMANDS[name], **options)
    done = forked.run(COMMANDS[name], **options)
    assert vars(done) == vars(expected)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_signals_mean_the_same(number):
    ends = []
    for kind in (subprocess.Popen, forked.Popen):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
        process = kind([sys.executable, "-c", WAITS], **pipes)
        assert process.stdout.readline() == "ready\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.1)
        process.send_signal(number)
        ends.append((*process.communicate(timeout=60), process.returncode))
    assert ends[0] == ends[1]
    assert ends[1][-1] == -number


def test_it_is_a_process_of_its_own():
    code = "import os; print(os.getpid(), os.getsid(0), os.getpgid(0))"
    for apart in (False, True):
        words = [sys.executable, "-c", code]
        process = forked.Popen(words, stdout=subprocess.PIPE, start_new_session=apart)
        pid, session, group = map(int, process.communicate()[0].split())
        assert process.forked
        assert pid == process.pid != os.getpid()
        assert (session, group) == ((pid, pid) if apart else (os.getsid(0), os.getpgid(0)))
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)  # gone, and waited for


@pytest.mark.parametrize(
    ("words", "variables", "warm"),
    [
        (["-c"], {}, True),
        (["-c"], {"COLUMNS": "70"}, True),
        (["-c"], {"OMP_NUM_THREADS": "2"}, False),
        (["-c"], {"RANK": "1"}, False),
        (["-P", "-c"], {}, False),
    ],
)
def test_what_is_read_at_import_is_never_another(words, variables, warm):
    """Where it would be, the process is started as usual."""
    code = "import sys; print('torch' in sys.modules)"
    environment = os.environ | variables
    done = forked.run(
        [sys.executable, *words, code], capture_output=True, text=True, env=environment
    )
    assert done.stdout == f"{warm}\n"


def test_a_variable_that_the_imports_set_is_no_difference():
    """A test that imports torch has it, and so has a command when it has imported torch."""
    server = forked.Server(control=None, tasks=1, learned={"SET_BY_AN_IMPORT": "here"})
    assert server.fits(forked.ENVIRONMENT | {"SET_BY_AN_IMPORT": "here"})
    assert not server.fits(forked.ENVIRONMENT | {"SET_BY_AN_IMPORT": "elsewhere"})


def test_a_command_that_takes_too_long_is_ended():
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run([sys.executable, "-c", WAITS], stdout=subprocess.DEVNULL, timeout=0.5)
    with pytest.raises(subprocess.CalledProcessError):
        forked.run([sys.executable, "-c", "raise SystemExit(3)"], check=True)
