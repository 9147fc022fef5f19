"""What a user's own part may offer, and the shell then uses."""

from dataclasses import dataclass, replace
from typing import ClassVar

from counterpoint.methods import cmc, simclr
from counterpoint.parts.extraction import Keys, Pooled, Queue
from toy import tiny_method


@dataclass(frozen=True)
class OwnBank(Pooled):
    """An extraction that wants to know how many samples there are."""

    held_out: ClassVar[bool] = False
    samples: int = 1

    def for_samples(self, samples):
        return replace(self, samples=samples)


def test_an_extraction_is_told_how_many_samples_there_are():
    assert cmc(samples=7).for_samples(50_000) == cmc(samples=50_000)
    own = tiny_method(extraction=OwnBank())
    assert own.for_samples(9).extraction.samples == 9
    inside = own.swap(extraction=Queue(of=OwnBank()))
    assert inside.for_samples(9).extraction.of.samples == 9


def test_an_extraction_that_does_not_ask_stays_as_it_is():
    method = simclr()
    assert method.for_samples(9) is method
    assert method.swap(extraction=Queue(of=Keys())).for_samples(9).extraction == Queue(of=Keys())


def test_an_extraction_says_whether_its_loss_means_something_on_other_images():
    assert simclr().held_out
    assert not cmc(samples=7).held_out
    assert not tiny_method(extraction=OwnBank()).held_out
    assert not tiny_method(extraction=Queue(of=OwnBank())).held_out
