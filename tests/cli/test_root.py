"""The root: help for everything, global options anywhere, and a quick start."""

import json
import subprocess
import sys

import pytest
import typer

from tidegate.cli.root import build_app, with_global_options_first
from tidegate.format.blocks.checksum import side_by_side

VERBS = {
    "backup": ["create", "get", "describe", "logs", "delete", "wait"],
    "restore": ["create", "plan", "get", "describe", "cancel", "logs", "delete", "wait"],
    "volume": ["create", "get", "describe", "delete"],
    "target": ["create", "get", "describe", "delete"],
    "namespace": ["create", "get", "delete"],
    "setting": ["get", "set", "unset"],
    "transfer": ["get", "describe"],
    "node": ["get", "describe"],
    "load": ["status", "set"],
    "config": ["show"],
}


@pytest.mark.parametrize("command", [(noun, verb) for noun, verbs in VERBS.items() for verb in verbs] + [("version",)])
def test_every_verb_has_examples_and_exit_codes_in_its_help(run, command):
    result = run(*command, "--help")

    assert result.code == 0
    assert f"  tidegate {' '.join(command)}" in result.out or f"tidegate {command[0]} {command[-1]}" in result.out
    assert "Exit codes:" in result.out
    assert "wrong usage" in result.out


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        ("backup get --server u", "--server u backup get"),
        ("--color never backup get --server=u x", "--color never --server=u backup get x"),
        ("backup get -- --server u", "backup get -- --server u"),
        ("server --data-dir d", "server --data-dir d"),
        ("--data-dir d server --config c", "--data-dir d server --config c"),
        ("version --server", "--server version"),
        ("--help", "--help"),
        ("", ""),
    ],
)
def test_global_options_may_stand_behind_our_own_nouns_only(typed, understood):
    assert with_global_options_first(typed.split()) == understood.split()


def test_no_command_shows_help_and_is_wrong_usage(run):
    assert run().code == 2
    assert run("backup").code == 2


def test_a_misspelt_command_is_wrong_usage_with_a_suggestion(run):
    result = run("bakup", "get")

    assert result.code == 2
    assert "backup" in result.err


def test_versions_of_both_sides_are_shown(run, server):
    at_once = side_by_side()
    words = "8 blocks at once" if at_once == 8 else "one block after the other"

    assert run("version", "-o", "json").json == {"client": "0.1.0", "server": "9.9.9", "blocksHashedAtOnce": at_once}
    assert run("version", "--client").out == f"client  0.1.0\nhashes  {words}\n"
    assert run("--version").out == "tidegate 0.1.0\n"


def test_a_server_that_is_away_does_not_hide_our_own_version(run):
    result = run("version")

    assert result.code == 0
    assert result.out.startswith("client  0.1.0\nserver  not reachable\n")


def test_others_can_add_commands_that_fail_the_same_way():
    app = build_app()

    @app.command("server")
    def serve(data_dir: str = typer.Option("")) -> None:
        raise KeyError(data_dir)

    with pytest.raises(SystemExit) as ended:
        app(["server", "--data-dir", "x"])

    assert ended.value.code == 1


def test_help_loads_none_of_what_is_slow():
    code = (
        "import json, sys\n"
        "from tidegate.cli.root import build_app\n"
        "try:\n    build_app()(['--help'])\nexcept SystemExit:\n    pass\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60)
    loaded = set(json.loads(done.stderr))

    assert loaded.isdisjoint({"pydantic", "httpx2", "rich", "yaml", "asyncio", "fastapi", "tidegate.model.resource"})
