"""Hooks as files: only the operator's, only as long as they may, and nothing of them stays behind."""

import asyncio
import os
import select
import signal
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from tidegate.app.machine.hook_files import HookFiles
from tidegate.errors import InvalidInput
from tidegate.model.backups.hooks import HookStage
from tidegate.ports.hook_runner import HookRun


@pytest.fixture
def room(tmp_path):
    (tmp_path / "hooks").mkdir(mode=0o700)
    return tmp_path / "hooks"


@pytest.fixture
def hooks(room, tmp_path):
    return HookFiles(room, running=tmp_path / "running")


def put(room, name, script, mode=0o700):
    path = room / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(mode)
    return path


def a_run(*command, seconds=60):
    return HookRun(command, timedelta(seconds=seconds), HookStage.POST, "nightly", "shop", ("db", "files"))


async def test_a_hook_gets_its_arguments_and_a_small_environment(room, hooks, tmp_path):
    put(room, "show", f'echo "$@" > {tmp_path}/said; env | sort | grep -v ^PWD= | grep -v ^_= >> {tmp_path}/said')

    assert await hooks.run(a_run("show", "a b", "; rm -rf /")) is None

    words, *environment = (tmp_path / "said").read_text().splitlines()
    assert words == "a b ; rm -rf /"
    names = [line.partition("=")[0] for line in environment]
    assert [name for name in names if name not in {"SHLVL", "OLDPWD"}] == [
        "PATH",
        "TIDEGATE_BACKUP",
        "TIDEGATE_HOOK",
        "TIDEGATE_NAMESPACE",
        "TIDEGATE_VOLUMES",
    ]
    assert {"TIDEGATE_BACKUP=nightly", "TIDEGATE_HOOK=post", "TIDEGATE_VOLUMES=db files"} <= set(environment)


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("/bin/true", "plain name"),
        ("../hooks/fine", "plain name"),
        (".hidden", "plain name"),
        ("missing", "there is no hook missing"),
        ("folder", "not a plain file"),
        ("link", "not a plain file"),
        ("open", "can be changed by others"),
        ("text", "not executable"),
    ],
)
async def test_what_the_operator_did_not_put_there_cannot_be_run(room, hooks, name, says):
    put(room, "fine", "exit 0")
    put(room, "open", "exit 0", 0o777)
    put(room, "text", "exit 0", 0o600)
    (room / "folder").mkdir()
    (room / "link").symlink_to("/bin/true")

    with pytest.raises(InvalidInput, match=says):
        await hooks.check((name,))
    assert says in await hooks.run(a_run(name))


async def test_a_directory_that_others_can_write_to_is_not_trusted(room, hooks):
    put(room, "fine", "exit 0")
    room.chmod(0o777)

    with pytest.raises(InvalidInput, match="can be changed by others"):
        await hooks.check(("fine",))


async def test_the_end_of_what_it_said_is_in_the_message(room, hooks):
    put(room, "chatty", "head -c 100000 /dev/zero | tr '\\0' x; echo the end; exit 7")

    said = await hooks.run(a_run("chatty"))

    assert said.startswith("chatty ended with exit code 7; it said: xxx")
    assert said.endswith("the end")
    assert len(said) < 2200


async def test_a_hook_that_takes_too_long_is_killed_with_all_it_started(room, hooks, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    put(room, "slow", f"sleep 600 > {pipe} & echo started; sleep 600")
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)

    said = await hooks.run(a_run("slow", seconds=3))

    assert said == "slow took longer than 3s; it said: started"
    hung_up = select.poll()
    hung_up.register(reader, select.POLLIN)
    # Killed with one signal, but each process of the group dies in its own time.
    assert hung_up.poll(30_000) == [(reader, select.POLLHUP)], "nobody has the pipe open for writing any more"
    os.close(reader)
    assert list((tmp_path / "running").iterdir()) == []


async def test_closing_ends_what_runs(room, hooks, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    put(room, "slow", f"echo up > {tmp_path}/pipe; exec sleep 600")
    running = asyncio.create_task(hooks.run(a_run("slow")))
    await asyncio.to_thread((tmp_path / "pipe").read_text)

    hooks.close()

    assert "was killed by SIGKILL" in await running


def test_a_hook_that_a_killed_server_left_is_ended_by_the_next_one(hooks, tmp_path):
    (tmp_path / "running").mkdir()
    left = subprocess.Popen(["sleep", "600"], start_new_session=True)
    other = subprocess.Popen(["sleep", "600"], start_new_session=True)
    birth = (Path(f"/proc/{left.pid}/stat")).read_text().rpartition(")")[2].split()[19]
    (tmp_path / "running" / str(left.pid)).write_text(birth)
    (tmp_path / "running" / str(other.pid)).write_text("1")

    hooks.end_leftovers()

    assert left.wait(timeout=30) == -signal.SIGKILL
    assert other.poll() is None, "the same number, but born at another time: somebody else's"
    other.kill()
    other.wait()
    assert list((tmp_path / "running").iterdir()) == []
