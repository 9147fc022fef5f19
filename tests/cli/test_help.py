"""The help: every command in a group, with an example that can be read, in dashes."""

import re

import pytest

from counterpoint.cli import main
from counterpoint.cli.commands import COMMANDS, options
from counterpoint.cli.help import EXAMPLES, GROUPS, overview
from counterpoint.cli.parser import make_parser, spelled


def test_every_command_is_in_one_group():
    listed = [name for names in GROUPS.values() for name in names]
    assert sorted(listed) == sorted(COMMANDS)
    assert all(len(line) < 80 for line in overview().splitlines())


@pytest.mark.parametrize("command", COMMANDS)
def test_the_help_of_a_command(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    said = capsys.readouterr().out
    flat = " ".join(said.split())
    assert f"example: {EXAMPLES[command]}" in flat
    assert not re.search(r"--\w*_", said)
    assert "null" not in said
    assert "typing." not in said
    assert all(option.flag in said for option in options(command).values() if not option.positional)
    read = make_parser().parse_args(spelled(EXAMPLES[command].split()[1:]))
    assert read.subcommand == command


def test_counterpoint_alone_shows_the_commands(capsys):
    with pytest.raises(SystemExit) as stop:
        main([])
    assert stop.value.code == 2
    assert "Look at your images" in capsys.readouterr().err
