"""Numbers for stages in tests."""

import torch

from counterpoint.framework import Draw
from counterpoint.parts.views.view_draws import uniform_draws


def numbers(stage, count, seed=0):
    """The numbers of one stage for samples 0 to count."""
    (drawn,) = uniform_draws(
        Draw(seed, 0, torch.arange(count)), views=(0,), counts=(stage.numbers,)
    )
    return drawn
