"""What a task of a cluster gave is kept here, whatever disk its machine wrote to."""

from collections import deque
from types import SimpleNamespace

from counterpoint.study import Outcome, ResultStore
from counterpoint.study.runners.events import nobody
from counterpoint.study.runners.ray_tasks import _landed, _Waiting
from study.trials import tiny


class RaisedError(Exception):
    pass


def test_an_outcome_of_a_machine_with_its_own_disk_is_kept(tmp_path):
    trial, store = tiny(), ResultStore(str(tmp_path))
    given = Outcome(trial=trial, fingerprint=trial.fingerprint, figures={"knn": 0.5})
    ray = SimpleNamespace(
        get=lambda _: given.to_json(),
        exceptions=SimpleNamespace(RayTaskError=RaisedError, RayError=RaisedError),
    )
    assert _landed(ray, None, _Waiting(trial, 0, 0), deque(), store, nobody) == given
    assert store.find(trial) == given
