"""Asking again: what is retried, what is not, how long, and what is said."""

import pytest

from counterpoint.data.stores.retry import (
    EndsEarlyError,
    Patience,
    StoreFailure,
    ask,
    environment_patience,
)
from counterpoint.data.stores.retry_log import retry_log

QUICK = Patience(first=0.01, longest=0.02, in_all=0.3)


def failing(*errors):
    """A request that raises these, one at a time, and then answers."""
    left = list(errors)

    def request():
        if left:
            raise left.pop(0)
        return "answer"

    return request


def test_what_passes_is_asked_again_and_counted(capfd):
    before = retry_log().counts["retries"]
    retry_log().said = -1e9
    assert ask("read s3://b/a", failing(OSError("one"), TimeoutError()), QUICK) == "answer"
    assert retry_log().counts["retries"] == before + 2
    said = capfd.readouterr().err
    assert said.startswith("store   read s3://b/a: OSError: one; again in ")
    assert said.count("\n") == 1  # the second failure comes too soon for a line of its own


@pytest.mark.parametrize(
    "error",
    [FileNotFoundError("a"), PermissionError("a"), EndsEarlyError("a"), ValueError("a")],
)
def test_what_stays_is_raised_at_once(error):
    def never(seconds):
        raise AssertionError("nothing is waited for")

    with pytest.raises(type(error)):
        ask("read", failing(error), QUICK, sleep=never)


def test_patience_ends():
    with pytest.raises(StoreFailure, match=r"read failed \d+ times in 0 s.*OSError: 503"):
        ask("read", failing(*[OSError("503")] * 1000), QUICK)


def test_waits_grow_and_differ_between_requests():
    patience = Patience(first=1, longest=8)
    for failures, top in ((1, 1), (2, 2), (3, 4), (4, 8), (9, 8)):
        waits = [patience.wait(f"request {n}", failures) for n in range(200)]
        assert top / 2 <= min(waits)
        assert max(waits) <= top
        assert max(waits) - min(waits) > 0.4 * top
    assert patience.wait("a", 3) == patience.wait("a", 3)


def test_the_environment_sets_it(monkeypatch):
    monkeypatch.setenv("COUNTERPOINT_STORE_PATIENCE", "7")
    assert environment_patience().in_all == 7
    monkeypatch.setenv("COUNTERPOINT_STORE_PATIENCE", "soon")
    with pytest.raises(ValueError, match="COUNTERPOINT_STORE_PATIENCE: got 'soon'"):
        environment_patience()
