"""A study on three Ray nodes that die one after the other, by a driver that is killed too.

The trials' work is a sleep (`sleeping.py`): everything else is what a real study runs.
"""

import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

from counterpoint.study import Images, ResultStore, Trial
from ray_nodes import added_node, cluster_of, kill_node

pytest.importorskip("ray", reason="ray is not installed: pip install 'counterpoint[ray]'")

pytestmark = [
    pytest.mark.filterwarnings("ignore"),  # Ray's own, of its start and of nodes that die
]
COUNTERPOINT = Path(sys.executable).parent / "counterpoint"
OWN = Path(__file__).with_name("sleeping.py")
LIMIT = 2400  # seconds after which something hangs
STUDY = """
import json
from pathlib import Path

from counterpoint.study import Trial


def study():
    texts = json.loads(Path(__file__).with_name("trials.json").read_text())
    return [Trial.from_json(text) for text in texts]
"""


def test_40_trials_one_death_and_a_killed_driver(tmp_path, monkeypatch):
    """What a minute allows of the next."""
    survive(Study(tmp_path, 40, sleep=(0.2, 0.8)), monkeypatch, slots=1, kills=(0.6,), deaths=[1.0])


@pytest.mark.full
def test_500_trials_a_death_every_minute_and_a_driver_killed_three_times(tmp_path, monkeypatch):
    chance = random.Random(5)
    deaths = [60 * minute + chance.uniform(-20, 20) for minute in range(1, 30)]
    study = Study(tmp_path, 500, sleep=(1, 5))
    found = survive(study, monkeypatch, slots=2, kills=(0.2, 0.5, 0.8), deaths=deaths)
    assert found["node deaths"] >= 4
    assert found["runs that died in the middle"] >= 4
    print(json.dumps(found, indent=2))


def survive(study, monkeypatch, *, slots, kills, deaths):
    """Run a study while nodes die and the driver is killed; nothing is lost or run twice.

    `slots` trials run at once on a node. `kills` are the shares of finished trials at which the
    driver is killed, `deaths` the seconds after the first finished trial at which a node dies.
    Another node takes its place.
    """
    chance, dead, killed = random.Random(0), [], []
    with ExitStack() as stack:
        cluster = stack.enter_context(cluster_of(3, monkeypatch, slots=slots))
        stack.callback(lambda: driver.kill())  # the one that is there by then
        started = time.monotonic()
        driver, first = study.started(cluster.address), None
        while driver.poll() is None:
            time.sleep(0.2)
            done, now = study.done(), time.monotonic()
            assert now - started < LIMIT, f"{done} trials in {LIMIT} s"
            first = now if first is None and done else first
            if first is not None and len(dead) < len(deaths) and now - first > deaths[len(dead)]:
                node = cluster.workers.pop(chance.randrange(len(cluster.workers)))
                kill_node(node)
                cluster.workers.append(added_node(cluster, slots=slots))
                dead.append(now - started)
            if len(killed) < len(kills) and done >= kills[len(killed)] * study.count:
                driver.kill()
                driver.wait()
                killed.append(done)
                driver = study.started(cluster.address)
        seconds = time.monotonic() - started
        assert driver.returncode == 0, study.said.read_text()[-3000:]
        lines = study.ledger()
        again = study.started(cluster.address)
        assert again.wait() == 0
        assert study.ledger() == lines, "a study that is done ran something"
    assert (len(killed), bool(dead)) == (len(kills), True)
    lost = slots * (len(dead) + 3 * len(killed))  # as many as could run where something was killed
    return {
        "command": "scripts/test --full tests/study/test_ray_deaths.py -s",
        "nodes": 3,
        "trials at once on a node": slots,
        "node deaths": len(dead),
        "driver killed when so many trials were done": killed,
        "seconds": round(seconds, 1),
        **study.judged(lines, lost=lost),
    }


class Study:
    """A study of sleeping trials, its results, and the ledger of what was run."""

    def __init__(self, folder, count, sleep):
        self.results, self.count = folder / "results", count
        self.file, self.said = folder / "fake.py", folder / "said.txt"
        self.book = folder / "ledger.jsonl"
        self.book.touch()
        np.save(folder / "noise.npy", np.zeros((4, 8, 8, 3), np.uint8))
        chance = random.Random(1)
        texts = [
            self._trial(folder, n, round(chance.uniform(*sleep), 3)).to_json() for n in range(count)
        ]
        (folder / "trials.json").write_text(json.dumps(texts))
        self.file.write_text(STUDY)

    def _trial(self, folder, number, seconds):
        part = {"part": "Sleeping", "number": number, "seconds": seconds}
        part |= {"ledger": str(self.book), "results": str(self.results)}
        return Trial(
            name=f"fake {number}",
            row=f"fake {number}",
            method="simclr-small",
            encoder='{"part":"NarrowResNet","widths":[8],"blocks":[1]}',
            data=str(folder / "noise.npy"),
            budget=Images(4),
            training=(("batch", 4),),
            kind="random",
            probes=(),
            swaps=(("extraction", json.dumps(part)),),
            parts=str(OWN),
        )

    def started(self, address):
        """Start the command in a process of its own."""
        command = [COUNTERPOINT, "study", self.file, "--runner", "ray", "--address", address]
        with self.said.open("a") as said:
            return subprocess.Popen(
                [*command, "--out", self.results, "--figure", "lr"],
                env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
                stdout=said,
                stderr=said,
            )

    def done(self):
        return len(list(self.results.glob("*/outcome.json")))

    def ledger(self):
        return [json.loads(line) for line in self.book.read_text().splitlines()]

    def judged(self, lines, *, lost):
        """Hold the ledger against the outcomes, and count; at most `lost` runs may have died."""
        starts = [line for line in lines if line["what"] == "start"]
        ends = Counter(line["trial"] for line in lines if line["what"] == "end")
        outcomes = ResultStore(str(self.results)).every()
        numbers = sorted(int(one.trial.name.split()[1]) for one in outcomes)
        again = [line["trial"] for line in starts if line["finished_before"]]
        assert {one.state for one in outcomes} == {"done"}
        assert numbers == list(range(self.count)), "a trial was lost"
        assert again == [], "a finished trial was run again"
        assert set(ends) == set(numbers)
        died = len(starts) - self.count
        assert died <= lost, "trials were run again that nothing had killed"
        return {
            "trials": self.count,
            "outcomes": len(outcomes),
            "runs started": len(starts),
            "runs that died in the middle": len(starts) - sum(ends.values()),
            "runs that died between their work and their outcome": sum(ends.values()) - self.count,
            "finished trials run again": len(again),
        }
