"""The built site and one browser, for all tests of a process."""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from report.browser import Browser, chromium

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def site():
    """The folder of the site: what .ci/run has built, or a build of now."""
    if built := os.environ.get("COUNTERPOINT_SITE"):
        return Path(built).resolve()
    (ROOT / "build").mkdir(exist_ok=True)
    with (ROOT / "build" / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run([ROOT / "scripts" / "docs"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return ROOT / "build" / "site"


@pytest.fixture(scope="module")
def browser():
    """A browser that is closed after the file."""
    if chromium() is None:
        pytest.skip("there is no chromium; on Debian: apt-get install chromium")
    with Browser() as one:
        yield one
