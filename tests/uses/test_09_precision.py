"""Use 9: mixed precision."""

import jaxtyping
import pytest

from counterpoint import simclr, training_of


def test_bf16_is_a_setting_of_training(small, train):
    run = train(simclr(small), settings={"precision": "bf16-mixed"})
    assert run.training.precision == "bf16-mixed"


def test_it_is_not_given_to_the_trainer_and_fp16_is_not_offered(small, train, monkeypatch):
    with pytest.raises(ValueError, match=r'write training=training_of\(method, precision="bf16-m'):
        train(simclr(small), precision="bf16-mixed")
    # Without the types that are checked in tests only: users do not have them.
    monkeypatch.setattr(jaxtyping.config, "jaxtyping_disable", True)
    with pytest.raises(ValueError, match=r"fp16 needs its losses scaled.*take 'bf16-mixed'"):
        training_of(simclr(small), precision="16-mixed")
