"""What --print-config writes, --config reads: for every command."""

import pytest

from counterpoint.cli import main
from counterpoint.cli.commands import COMMANDS, options
from counterpoint.cli.parser import make_parser, spelled

NEEDED = {
    "anatomy": ["simclr", "moco"],
    "check": ["simclr-small", "--size", "16"],
    "confirm": ["search", "--top", "2"],
    "curate": ["vectors", "--select", "200"],
    "design": ["photos", "--hours", "16", "--criteria", "rankme,lidar"],
    "doctor": ["photos"],
    "embed": ["run", "photos", "--out", "vectors"],
    "evaluate": ["run", "--data", "photos", "--labels", "0.1,1"],
    "export": ["run", "--out", "encoder", "--bytes"],
    "pretrain": ["photos", "--out", "run", "--compile", "--lr", "1e-3", "--optimiser", "sgd"],
    "report": ["one", "two", "--data", "photos"],
    "search": ["vectors", "one.jpg", "7", "--count", "20"],
    "shard": ["photos", "shards", "--lanes", "64"],
    "launch": ["slurm", "--nodes", "2", "pretrain", "photos", "--seed", "3", "--out", "run"],
    "study": ["table1", "--plan", "--price", "2.5"],
    "table": ["results", "--format", "latex"],
    "views": ["photos", "--seed", "3"],
}


def given(typed):
    found = make_parser().parse_args(spelled(typed)).as_dict()
    return {k: v for k, v in found[found["subcommand"]].items() if k != "config"}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_printed_config_is_read_again(command, tmp_path, capsys):
    typed = [command, *NEEDED.get(command, [])]
    with pytest.raises(SystemExit) as stop:
        main([command, "--print-config", *typed[1:]])  # launch ends with another command
    assert stop.value.code == 0
    file = tmp_path / "options.yaml"
    file.write_text(capsys.readouterr().out)
    again = given([command, "--config", str(file)])
    assert again == given(typed)
    assert again.keys() == options(command).keys()


def test_a_config_that_names_code_is_refused(tmp_path, capsys):
    (tmp_path / "evil.yaml").write_text("parts: evil.py\n")
    with pytest.raises(SystemExit):
        main(["check", "simclr", "--config", str(tmp_path / "evil.yaml")])
    assert "type --parts instead" in capsys.readouterr().err
