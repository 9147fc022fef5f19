"""Use 14: Barlow Twins and VICReg as losses of one's own; tests/newer.py has them.

That they are exact over 1 to 4 processes is shown in tests/training/test_distributed.py.
"""

import pytest

from counterpoint import Dot, Headed, simclr
from newer import BarlowTwins, VICReg


@pytest.mark.parametrize("loss", [BarlowTwins(), VICReg()])
def test_a_loss_over_all_ranks_trains(loss, small, train):
    head = Headed(of=small, hidden=(32, 32), out=32, norm=True)
    run = train(simclr(head).swap(similarity=Dot(), loss=loss), settings={"lr": 0.01})
    assert run.method.loss == loss
