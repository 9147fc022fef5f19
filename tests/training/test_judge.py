"""Who stands still, from signs alone: no clock, no process, no socket."""

import pytest

from counterpoint.training.watchdog.judge import GRACE, Judge
from counterpoint.training.watchdog.status import RankStatus

PATIENCE = 10.0


class Ranks:
    """Ranks that live and move as a test says, a second at a time."""

    def __init__(self, ranks):
        self.judge = Judge(ranks, patience=PATIENCE)
        self.said = [RankStatus(phase="computing the loss of step 7") for _ in range(ranks)]
        self.tick = 0

    def seconds(self, count, *, moving=(), dead=(), computing=(), **more):
        """Let time pass; `more` is said by every rank, or by one when it is a dictionary."""
        for _ in range(count):
            self.tick += 1
            for rank, said in enumerate(self.said):
                if rank in dead:
                    continue
                own = {k: v[rank] if isinstance(v, dict) else v for k, v in more.items()}
                count_now = said.count + (rank in moving)
                fields = {"phase": said.phase, "tick": self.tick, "count": count_now, **own}
                self.said[rank] = RankStatus(**fields)
            verdict = self.judge.look(self.said, 1.0, computing)
            if verdict is not None:
                return verdict
        return None


def test_ranks_that_move_are_left_alone():
    assert Ranks(3).seconds(1000, moving=(0, 1, 2)) is None


def test_a_rank_that_waits_for_one_that_moves_is_left_alone():
    # Rank 0 looks at the health of the model, or saves; the others stand in an exchange.
    waits = {0: False, 1: True, 2: True}
    assert Ranks(3).seconds(1000, moving=(0,), waits=waits) is None


def test_a_silent_rank_is_named_although_the_others_move():
    ranks = Ranks(3)
    assert ranks.seconds(3, moving=(0, 1, 2)) is None
    verdict = ranks.seconds(20, moving=(0, 1), dead=(2,))
    assert (verdict.ranks, verdict.silent, verdict.code) == ((2,), True, 1)
    assert ranks.tick - 3 == PATIENCE + 1


def test_a_silent_rank_that_computes_has_ten_times_the_patience():
    # A compiler that holds Python's lock: no thread of that process can say anything.
    ranks = Ranks(2)
    assert ranks.seconds(99, moving=(0,), dead=(1,), computing=(1,)) is None
    assert ranks.seconds(9, moving=(0,), dead=(1,), computing=(1,)).ranks == (1,)


def test_a_rank_that_stands_still_alone_is_named_although_another_moves():
    ranks, alone = Ranks(2), {0: False, 1: True}
    verdict = ranks.seconds(20, moving=(0,), alone=alone, phase="loading a batch")
    assert verdict.ranks == (1,)
    assert "while loading a batch" in verdict.why


def test_when_nobody_moves_it_is_the_one_that_does_not_wait():
    waits = {0: True, 1: False, 2: True}
    verdict = Ranks(3).seconds(20, waits=waits)
    assert verdict.ranks == (1,)
    assert "has not moved for 11 s while computing the loss of step 7" in verdict.why


def test_asked_to_stop_it_names_the_one_that_waits_for_its_own_worker():
    phase = {0: "computing the gradient of step 3", 1: "loading a batch"}
    ranks = Ranks(2)
    verdict = ranks.seconds(9, alone={0: False, 1: True}, phase=phase, asked=143)
    assert (verdict.ranks, verdict.code) == ((1,), 143)


def test_when_all_wait_the_exchange_hangs():
    verdict = Ranks(3).seconds(20, waits=True)
    assert verdict.ranks == (0, 1, 2)
    assert "wait for each other" in verdict.why


def test_trouble_is_named_at_once():
    trouble = {0: "", 1: "a worker has done nothing"}
    verdict = Ranks(2).seconds(1, moving=(0, 1), trouble=trouble)
    assert verdict.ranks == (1,)
    assert "a worker has done nothing" in verdict.why


def test_a_rank_that_has_ended_is_not_missed():
    ranks = Ranks(2)
    assert ranks.seconds(1, over={0: False, 1: True}) is None
    assert ranks.seconds(100, moving=(0,), dead=(1,)) is None


@pytest.mark.parametrize(("slow", "enough"), [(1, GRACE), (3, 9), (8, PATIENCE)])
def test_asked_to_stop_it_waits_for_a_step_as_slow_as_those_before(slow, enough):
    ranks = Ranks(1)
    for _ in range(3):
        assert ranks.seconds(slow) is None
        assert ranks.seconds(1, moving=(0,)) is None
    assert ranks.seconds(int(enough) - 1, asked=143) is None
    verdict = ranks.seconds(1, asked=143)
    assert verdict.code == 143
    assert "no checkpoint could be written" in verdict.words(["this run"], "then")


def test_asked_to_stop_it_does_not_end_while_anyone_moves():
    assert Ranks(2).seconds(1000, moving=(1,), asked=143) is None
