"""Run trials one after the other: python -m counterpoint.study.runners.long_lived_worker CPUS.

Each line of the input is the JSON of [folder of results, a trial's JSON]; each is answered by a
line: the error in words, or null where the outcome is in the folder.
"""

import gc
import json
import os
import sys
from typing import TextIO

from counterpoint.study.result_store import ResultStore
from counterpoint.study.runners.attempts import error_words
from counterpoint.study.trial import Trial
from counterpoint.study.trial_run import run_trial


def answer(asked: TextIO, answers: TextIO, *, cpus: int) -> None:
    """Answer every line; an error of a trial is an answer, and the next trial is run."""
    for line in asked:
        root, trial = json.loads(line)
        words = None
        try:
            run_trial(Trial.from_json(trial), ResultStore(root), cpus=cpus)
        except Exception as error:  # noqa: BLE001 (whatever a trial raises, the others continue)
            words = error_words(error)
        gc.collect()  # models hold themselves in cycles, until somebody looks
        answers.write(json.dumps(words) + "\n")
        answers.flush()


def _main() -> None:
    # What a library prints must not be read as an answer.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    answer(sys.stdin, answers, cpus=int(sys.argv[1]))


if __name__ == "__main__":
    _main()
