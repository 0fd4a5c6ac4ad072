"""What the command answers to a call that it does not understand."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Iterator

import pytest

from dpexplain.cli.main import parser


def _commands(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    """Return the parser of each command, subcommands included."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for command in action.choices.values():
                yield command
                yield from _commands(command)


LEAVES = [command for command in _commands(parser()) if command.epilog]


@pytest.mark.parametrize("command", LEAVES, ids=lambda command: command.prog)
def test_a_wrong_call_is_answered_with_an_example_that_the_command_accepts(command, capsys):
    words = command.prog.split()[1:]
    with pytest.raises(SystemExit) as left:
        parser().parse_args([*words, "--no-such-option"])
    assert left.value.code == 2
    said, example, more = capsys.readouterr().err.splitlines()
    assert said.startswith(f"{command.prog}: ")
    assert more == f"all options: {command.prog} --help"
    shown = example.removeprefix("for example: dpexplain ")
    assert shown != example
    parser().parse_args(shlex.split(shown))


@pytest.mark.parametrize("command", ["fit", "sweep", "report"])
def test_an_epsilon_that_is_no_number_is_told_how_several_are_written(command, capsys):
    with pytest.raises(SystemExit):
        parser().parse_args([command, "data.csv", "--epsilon", "1,2"])
    said = capsys.readouterr().err
    assert "--epsilon: 1,2 is not a number; write 0.5 with a point." in said
    assert "several, with spaces between them: --epsilon 0.5 1 2" in said


def test_a_file_too_many_is_rejected_by_the_command_that_got_it(capsys):
    with pytest.raises(SystemExit):
        parser().parse_args(["explain", "first.json", "second.json"])
    assert capsys.readouterr().err.splitlines()[:2] == [
        "dpexplain explain: unrecognized arguments: second.json",
        "for example: dpexplain explain model.json",
    ]
