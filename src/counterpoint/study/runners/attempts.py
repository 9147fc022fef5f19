"""A trial that fails is run again, then recorded as failed; the others continue."""

from collections.abc import Callable

from counterpoint.study.outcome import Cost, Outcome
from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.events import Event, Tell
from counterpoint.study.trial import Trial
from counterpoint.study.workplace import spent_in

LENGTH = 4000  # characters of an error that are kept: its end says most


class TrialFailed(RuntimeError):  # noqa: N818 (it is what happened, and no mistake of ours)
    """A trial whose process ended without an outcome; the message is the end of its log."""


class ProcessDied(TrialFailed):
    """A process that ended without a word of its trial: killed, most often for memory."""


def attempt(
    trial: Trial,
    store: ResultStore,
    run: Callable[[], Outcome],
    *,
    retries: int,
    tell: Tell,
    deaths: int = 0,
) -> Outcome:
    """Run a trial up to `retries` more times if it raises, `deaths` more if its process dies."""
    while True:
        tell(Event(trial, "running"))
        try:
            outcome = run()
        except Exception as error:  # noqa: BLE001 (whatever a trial raises, the others continue)
            if isinstance(error, ProcessDied) and deaths:
                deaths -= 1
            elif retries:
                retries -= 1
            else:
                return failed(trial, store, error_words(error), tell)
            tell(Event(trial, "again", error_words(error)))
            continue
        tell(Event(trial, "done", outcome=outcome))
        return outcome


def failed(trial: Trial, store: ResultStore, why: str, tell: Tell) -> Outcome:
    """Record that a trial failed, and what it took; a later start runs it again."""
    seconds, cores, attempts = spent_in(store.workplace(trial))
    outcome = Outcome(
        trial=trial,
        fingerprint=trial.fingerprint,
        state="failed",
        cost=Cost(seconds=seconds, core_seconds=cores, attempts=attempts),
        error=why,
    )
    store.keep(outcome)
    tell(Event(trial, "failed", why, outcome))
    return outcome


def error_words(error: BaseException) -> str:
    """Return an error in words; of a long one, its end.

    >>> error_words(ValueError("study: no"))
    'ValueError: study: no'
    """
    if isinstance(error, TrialFailed):
        return str(error)[-LENGTH:]
    return f"{type(error).__name__}: {error}"[-LENGTH:]
