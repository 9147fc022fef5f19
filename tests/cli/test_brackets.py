"""Brackets in paths and names are words, not markup of what a terminal shows."""

import torch
from rich.console import Console

from counterpoint import as_source
from counterpoint.cli import main
from counterpoint.framework.settings import Training
from counterpoint.methods import method_named
from counterpoint.training.summary import start_table


def test_anatomy_of_a_file_in_a_folder_with_brackets(tmp_path, monkeypatch, capsys):
    """It ended in an error, or the folder lost its name."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for folder in ("runs[v2]", "a[/x]"):
        (tmp_path / folder).mkdir(parents=True)
    own = method_named("simclr-small", size=32).to_json()
    names = ["runs[v2]/method.json", "a[/x]/method.json"]
    for name in names:
        (tmp_path / name).write_text(own)
    main(["anatomy", *names])
    shown = capsys.readouterr().out
    assert all(name in shown for name in names)


def test_the_summary_of_a_run_names_its_data_and_settings_as_they_are():
    method = method_named("simclr-small", size=16)
    source = as_source(torch.zeros(8, 3, 16, 16, dtype=torch.uint8))
    model = method.build(image=(3, 16, 16))
    made = start_table(
        method, model, source, Training(batch=8), recipe="a[/b]", ranks=1, steps=1, start="[raw]"
    )
    console = Console(width=200)
    with console.capture() as found:
        console.print(made)
    assert "a[/b]" in found.get()
    assert "[raw]" in found.get()
