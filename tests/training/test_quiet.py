"""Lightning is quiet while it trains for us, under either of its names, and only then."""

import logging
import warnings

import pytest

from counterpoint.training.trainer import LOGGERS, quiet


@pytest.mark.parametrize("name", LOGGERS)
def test_tips_are_not_shown(name, caplog):
    tips = logging.getLogger(f"{name}.utilities.rank_zero")
    caplog.set_level(logging.INFO, logger=name)
    with quiet():
        tips.info("For seamless cloud logging, try ...")
        tips.warning("something is wrong")
    tips.info("afterwards")
    assert [record.message for record in caplog.records] == ["something is wrong", "afterwards"]


def test_slurm_is_not_advertised():
    words = "The `srun` command is available on your system but is not used."
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        with quiet():
            warnings.warn(words, stacklevel=1)
            warnings.warn("another", stacklevel=1)
    assert [str(one.message) for one in seen] == ["another"]
