"""Use 14: a statistic of the batch as a loss of one's own; tests/newer.py has it.

That it is exact over 1 to 4 processes is shown in tests/training/test_distributed.py.
"""

from counterpoint import Cosine, Headed, simclr
from newer import CodingRate


def test_a_loss_over_all_ranks_trains(small, train):
    head = Headed(of=small, hidden=(32, 32), out=32, norm=True)
    method = simclr(head).swap(similarity=Cosine(tau=1.0), loss=CodingRate())
    run = train(method, settings={"lr": 0.01})
    assert run.method.loss == CodingRate()
