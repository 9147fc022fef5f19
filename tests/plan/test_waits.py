"""The time on the wire is that of the nodes that the plan names."""

from math import ceil, log2

import pytest

from counterpoint import simclr_small, training_of
from counterpoint.plan.forecast import Forecast
from counterpoint.plan.gpus import GPUS
from counterpoint.plan.networks import HOP, NETWORKS, REACHED
from counterpoint.plan.workload import Workload


@pytest.mark.parametrize(("gpus", "each"), [(16, 8), (12, 6), (20, 5)])
def test_the_gpus_of_a_node_share_its_adapter(gpus, each):
    training = training_of("simclr-small", batch=240)
    load = Workload(simclr_small(), (3, 32, 32), training, 45_000, 100, "simclr-small")
    plan = Forecast(load, GPUS["h100"], gpus=gpus, network=NETWORKS["ethernet-25"])
    (gathered,) = [one for one in plan.collectives if one.what == "candidates"]
    assert gathered.times == 1
    assert gathered.behind == ""
    seconds = gathered.received(gpus) / (REACHED * 25e9 / 8 / each) + HOP * ceil(log2(gpus))
    assert plan.waits["candidates"] == pytest.approx(seconds)
