"""torchrun over two agents, as on two machines: one is killed and started again."""

import contextlib
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from launch.paced_run import BIN, LATE
from reliability.nursery import free_port


class Agents:
    """Two agents that meet at a port of this machine; each is `counterpoint launch torchrun`."""

    def __init__(self, run):
        self.run, self.port, self.made = run, free_port(), {}

    def start(self, number):
        options = ["--nodes", "2", "--gpus-per-node", "0", "--address", f"127.0.0.1:{self.port}"]
        log = (self.run.folder / f"agent-{number}.log").open("ab")
        self.made[number] = subprocess.Popen(
            [BIN / "counterpoint", "launch", "torchrun", *options, *self.run.command("run")],
            cwd=self.run.folder,
            env=self.run.environment,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
        log.close()

    def kill(self, number, *, alone=False):
        """Kill an agent, with its processes as a machine that loses its power, or alone."""
        agent = self.made[number]
        pids = [agent.pid] if alone else [agent.pid, *below(agent.pid)]
        for pid in pids:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        agent.wait()

    def said(self):
        logs = sorted(self.run.folder.glob("agent-*.log"))
        return "".join(f"== {log.name}\n{log.read_text()}" for log in logs)

    def end(self):
        codes = {number: agent.wait(timeout=LATE) for number, agent in self.made.items()}
        assert set(codes.values()) == {0}, self.said()


def below(pid):
    found = []
    for file in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            children = [int(child) for child in file.read_text().split()]
            found += [*children, *(one for child in children for one in below(child))]
    return found


@pytest.fixture
def agents(run):
    made = Agents(run)
    yield made
    for number, agent in made.made.items():
        if agent.poll() is None:
            made.kill(number)


def test_two_agents_train_and_are_stopped_together_by_a_signal_to_one(run, agents):
    run.slow()
    for number in range(2):
        agents.start(number)
    run.reach("run", 2, agents.said)
    agents.made[1].send_signal(signal.SIGTERM)
    assert agents.made[1].wait(timeout=LATE) != 0
    stopped = run.step("run")
    assert 2 <= stopped < run.steps
    assert "stopped at step" in agents.said()


@pytest.mark.full
@pytest.mark.parametrize("lost", [0, 1])
def test_an_agent_is_killed_the_other_is_stopped_and_both_are_started_again(
    run, agents, undisturbed, lost
):
    """A new agent beside an old one may get another port from torch: docs/cluster.md."""
    run.slow()
    for number in range(2):
        agents.start(number)
        time.sleep(3)  # the first has the meeting place
    run.reach("run", 3, agents.said)
    agents.kill(lost)
    agents.made[1 - lost].terminate()
    assert agents.made[1 - lost].wait(timeout=LATE) != 0
    for number in range(2):
        agents.start(number)
    run.fast()
    agents.end()
    assert run.left("run") == undisturbed()
