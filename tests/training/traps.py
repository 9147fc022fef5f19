"""Small disks, and calls to the operating system that go wrong, for the tests of checkpoints."""

import os
import subprocess
from contextlib import contextmanager

import pytest

CALLS = ["open", "mkdir", "write", "fsync", "rename", "unlink", "rmdir", "listdir", "scandir"]
"""What a save asks of the operating system."""


@contextmanager
def small_disk(folder, *, size):
    """A file system of its own in memory, which can really be full or read-only."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)


def in_child(work):
    """Run in a process of its own; give its exit code, negative when it was killed."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = work()
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Trap:
    """Lets calls to the operating system through until one that goes wrong."""

    def __init__(self, patched, wrong, *, at, only=CALLS):
        self.count, self.at, self.wrong, self.hit = 0, at, wrong, None
        for name in only:
            patched.setattr(os, name, self._guarded(name, getattr(os, name)))

    def _guarded(self, name, call):
        def guarded(*arguments, **named):
            self.count += 1
            if self.count == self.at:
                self.hit = name
                self.wrong(name)
            return call(*arguments, **named)

        return guarded
