"""A folder of two checkpoints."""

import pytest


@pytest.fixture
def place(tmp_path):
    """The checkpoints of steps 118 and 120, of the same size and with other values."""
    from counterpoint.training.checkpoints import Checkpoints
    from training.states import state_of

    made = Checkpoints(tmp_path / "run" / "checkpoints")
    for step in (118, 120):
        made.save(step, state_of(step))
    return made
