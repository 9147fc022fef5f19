"""Processes that live for several trials: one that dies costs its own trial, and is replaced."""

from pathlib import Path

from counterpoint.study import Images, ResultStore, run_here
from counterpoint.study.runners.long_lived import LongLived
from study.trials import tiny

OWN = str(Path(__file__).with_name("crashing.py"))


def crashing(file, how):
    swap = f'{{"part":"Crashing","file":"{file}","times":9,"how":"{how}"}}'
    return tiny(name=how, parts=OWN, swaps=(("extraction", swap),), budget=Images(32))


def test_one_that_dies_or_raises_costs_its_own_trial_only(data, tmp_path):
    good = [tiny(seed, budget=Images(32), probes=("knn",)) for seed in range(3)]
    dies, raises = crashing(tmp_path / "a", "exit"), crashing(tmp_path / "b", "raise")
    store = ResultStore(str(tmp_path / "results"))
    with LongLived(at_once=1, trials=3) as workers:
        first = list(workers.run([good[0], raises], store))
        pid = workers._workers[0].process.pid
        rest = list(workers.run([good[0], dies, good[1], good[2]], store))
        assert workers._workers[0].process.pid != pid
    assert not Path(f"/proc/{pid}").exists()
    found = {outcome.trial.key: outcome for outcome in (*first, *rest)}
    assert len(found) == len(first) + len(rest) == 5  # the one that was done is not run again
    assert [found[one.key].state for one in good] == ["done"] * 3
    assert found[raises.key].error.endswith("made to crash")
    assert found[dies.key].error.startswith("process ended with 7: ")
    assert len((tmp_path / "a").read_text()) == 3  # a process that dies is not the trial's fault
    assert len((tmp_path / "b").read_text()) == 1
    assert found[raises.key].cost.core_seconds > 0
    (alone,) = run_here([good[2]], ResultStore(str(tmp_path / "alone")))
    assert alone.figures == found[good[2].key].figures  # whoever ran before it


def test_a_caller_that_stops_ends_its_processes(data, tmp_path):
    store = ResultStore(str(tmp_path))
    long = tiny(budget=Images(32 * 100_000))
    with LongLived(at_once=2) as workers:
        running = workers.run([tiny(budget=Images(32), probes=("knn",)), long], store)
        assert next(running).state == "done"
        processes = [worker.process for worker in workers._workers if worker.process]
        running.close()
    assert all(process.returncode is not None for process in processes)
    assert store.find(long) is None
    assert (store.workplace(long) / "attempts").exists()
