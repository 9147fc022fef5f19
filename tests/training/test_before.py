"""What is refused before the data is opened."""

import pytest

from counterpoint import pretrain
from counterpoint.cli import main
from counterpoint.training import loggers


def refused(capsys, *more):
    """The words of a command whose data may not be opened."""
    with pytest.raises(SystemExit) as end:
        main(["pretrain", ".", "--method", "simclr-small", *map(str, more)])
    said = str(end.value.code) + capsys.readouterr().err
    assert "Traceback" not in said
    return said


@pytest.fixture(autouse=True)
def never(monkeypatch):
    def opened(*_, **__):
        raise AssertionError("the data was opened")

    monkeypatch.setattr("counterpoint.resolve.open_data", opened)


@pytest.mark.parametrize("name", ["tensorboard", "wandb"])
def test_a_logger_that_is_not_installed(capsys, tmp_path, monkeypatch, name):
    monkeypatch.setattr(loggers, "find_spec", lambda _: None)
    said = refused(capsys, "--out", tmp_path / "run", "--logger", name)
    assert f"logger: {name} is not installed; pip install 'counterpoint[track]'" in said


def test_a_file_in_place_of_a_folder(capsys, tmp_path):
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "run"):
        assert f"out: {tmp_path / 'file'} is a file; needs a folder" in refused(
            capsys, "--out", out
        )


def test_an_address(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "out: got s4://bucket/run; s4:// is not known" in refused(
        capsys, "--out", "s4://bucket/run"
    )
    assert not list(tmp_path.iterdir())


def test_a_misspelt_argument(tmp_path):
    with pytest.raises(TypeError, match="unexpected argument epoch; did you mean epochs"):
        pretrain("simclr-small", ".", out=tmp_path / "run", epoch=3)
    assert not list(tmp_path.iterdir())
