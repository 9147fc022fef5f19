"""The help: every command in a group, with an example that can be read, in dashes."""

import re
import subprocess
import sys

import pytest

from counterpoint.cli import main
from counterpoint.cli.bounds import MINIMUM
from counterpoint.cli.commands import COMMANDS, example, options
from counterpoint.cli.help import overview
from counterpoint.cli.parser import make_parser, spelled


def test_the_overview_has_every_command_and_fits_80_columns():
    said = overview()
    assert [line.split()[0] for line in said.splitlines() if re.match("  [a-z]", line)] == [
        *COMMANDS
    ]
    assert all(len(line) <= 80 for line in said.splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    said = capsys.readouterr().out
    flat = " ".join(said.split())
    assert f"example: {example(command)}" in flat
    assert example(command).startswith(f"counterpoint {command}")
    assert all(len(line) <= 80 for line in said.splitlines())
    assert not re.search(r"--\w*_", said)
    assert "null" not in said
    assert "typing." not in said
    assert "type:" not in said
    assert all(option.flag in said for option in options(command).values() if not option.positional)
    read = make_parser().parse_args(spelled(example(command).split()[1:]))
    assert read.subcommand == command


@pytest.mark.parametrize("command", COMMANDS)
def test_every_option_says_its_default(command):
    """A default of None is told in words; others are appended by the formatter."""
    parser = make_parser()._subcommands_action._name_parser_map[command]
    said = {
        action.dest: parser._get_formatter()._get_help_string(action) for action in parser._actions
    }
    for option in options(command).values():
        assert said[option.name], option
        assert option.required or option.switch or "(default: " in said[option.name], option


def test_every_number_has_a_minimum():
    for command in COMMANDS:
        for option in options(command).values():
            number = {int, float} & {*option.kinds}
            assert not number or option.name in {*MINIMUM, "map"}, (command, option)


def test_underscores_are_read_as_dashes():
    for typed in ("--batch-size", "--batch_size"):
        read = make_parser().parse_args(spelled(["check", "simclr", typed, "64"]))
        assert read.check.batch_size == 64


@pytest.mark.parametrize("command", ["methods", "encoders"])
def test_a_list_of_names_fits_80_columns(command, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    main([command])
    said = capsys.readouterr().out.splitlines()
    assert len(said) > 10
    assert max(map(len, said)) <= 80


def test_counterpoint_alone_shows_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "Measure:" in capsys.readouterr().err


def test_python_runs_the_package_as_the_command():
    asked = [sys.executable, "-m", "counterpoint", "--help"]
    assert subprocess.run(asked, capture_output=True, text=True, check=True).stdout == overview()
