"""Where trials work whose results lie elsewhere: a folder that only this user can enter."""

import os

import pytest

from counterpoint.study import ResultStore
from counterpoint.study.result_store import scratch
from study.trials import tiny


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delenv("COUNTERPOINT_SCRATCH", raising=False)
    return tmp_path


def test_nobody_else_can_enter_and_a_trial_finds_it_again():
    assert scratch().stat().st_mode & 0o777 == 0o700
    assert scratch() == scratch()


def test_studies_with_other_results_work_apart():
    one, two = (ResultStore(f"memory://{name}").workplace(tiny(0)) for name in ("one", "two"))
    assert one != two
    assert one.name == two.name


@pytest.mark.parametrize("planted", ["open", "link", "file"])
def test_a_folder_that_somebody_else_has_made_is_refused(temporary, planted):
    place = temporary / f"counterpoint-study-{os.getuid()}"
    if planted == "open":
        place.mkdir()
        place.chmod(0o777)
    elif planted == "link":
        (temporary / "theirs").mkdir(mode=0o700)
        place.symlink_to(temporary / "theirs")
    else:
        place.write_text("")
    with pytest.raises(ValueError, match="is not a folder that only you can enter"):
        scratch()
