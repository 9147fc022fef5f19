"""Commands that a scheduler stops."""

import os
import signal

import pytest

from counterpoint.cli.resumable import TOLD, resumable


def test_a_second_sigterm_does_not_cut_the_orderly_end_short(capsys):
    before, ended = signal.getsignal(signal.SIGTERM), []

    def told_twice():
        with resumable():
            try:
                os.kill(os.getpid(), signal.SIGTERM)
            finally:
                os.kill(os.getpid(), signal.SIGTERM)
                ended.append("orderly")

    with pytest.raises(SystemExit) as stop:
        told_twice()
    assert ended == ["orderly"]
    assert stop.value.code == TOLD
    assert capsys.readouterr().err.count("run the same command again to resume") == 1
    assert signal.getsignal(signal.SIGTERM) is before
