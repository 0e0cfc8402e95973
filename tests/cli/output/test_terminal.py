"""Colours, and what a terminal is spared."""

import pytest

from tidegate.cli.output.terminal import printable, wants_color
from tidegate.model.backups.backup import BackupPhase
from tidegate.testing.resources.builders import a_backup


@pytest.mark.parametrize(
    ("mode", "variables", "is_terminal", "colored"),
    [
        ("auto", {}, True, True),
        ("auto", {}, False, False),
        ("auto", {"NO_COLOR": "1"}, True, False),
        ("auto", {"NO_COLOR": ""}, True, True),
        ("auto", {"FORCE_COLOR": "1"}, False, True),
        ("auto", {"FORCE_COLOR": "1", "NO_COLOR": "1"}, True, False),
        ("auto", {"TERM": "dumb"}, True, False),
        ("auto", {"TERM": "xterm"}, True, True),
        ("always", {"NO_COLOR": "1"}, False, True),
        ("never", {"FORCE_COLOR": "1"}, True, False),
    ],
)
def test_what_was_said_outright_wins_then_the_variables_then_the_terminal(mode, variables, is_terminal, colored):
    assert wants_color(mode, variables, is_terminal=is_terminal) is colored


@pytest.mark.parametrize(
    ("args", "variables", "colored"),
    [
        ((), {}, False),
        (("--color", "always"), {}, True),
        ((), {"FORCE_COLOR": "1"}, True),
        ((), {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (("--color", "never"), {"FORCE_COLOR": "1"}, False),
        ((), {"TIDEGATE_COLOR": "always"}, True),
    ],
)
def test_commands_colour_a_pipe_only_when_told_to(run, server, args, variables, colored):
    server.put(a_backup("nightly", phase=BackupPhase.FAILED))

    assert ("\x1b[31mFailed\x1b[0m" in run("backup", "get", *args, **variables).out) is colored


def test_colours_do_not_move_columns(run, server):
    server.put(a_backup("nightly", phase=BackupPhase.FAILED))

    plain = run("backup", "get").out
    painted = run("backup", "get", "--color", "always").out

    assert painted.replace("\x1b[31m", "").replace("\x1b[0m", "") == plain


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain", "plain"),
        ("grün ☃", "grün ☃"),
        ("two\nlines", "two lines"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\u202eevil", "\\u202eevil"),
    ],
)
def test_what_would_steer_a_terminal_is_spelt_out(text, shown):
    assert printable(text) == shown
