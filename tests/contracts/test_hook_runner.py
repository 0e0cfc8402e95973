"""What every runner of hooks promises."""

import asyncio
from datetime import timedelta

import pytest

from tidegate.app.machine.hook_files import HookFiles
from tidegate.errors import InvalidInput
from tidegate.model.backups.hooks import HookStage
from tidegate.ports.hook_runner import HookRun
from tidegate.testing.doubles.hooks import FakeHooks


def a_run(command, *, timeout=timedelta(minutes=1)):
    return HookRun((command,), timeout, HookStage.PRE, "nightly", "shop", ("db",))


def files(tmp_path):
    scripts = {"good": "exit 0", "bad": "echo no disk; exit 3", "stuck": "exec sleep 600"}
    (tmp_path / "hooks").mkdir(mode=0o700)
    for name, script in scripts.items():
        path = tmp_path / "hooks" / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o700)
    return HookFiles(tmp_path / "hooks", running=tmp_path / "running")


def fake(_tmp_path):
    return FakeHooks(known=("good", "bad", "stuck"), failing={"bad": "bad: no disk"}, stuck={"stuck"})


@pytest.fixture(params=[files, fake])
def runner(request, tmp_path):
    return request.param(tmp_path)


async def test_a_known_command_passes_and_ends_well(runner):
    await runner.check(("good", "with", "arguments"))

    assert await runner.run(a_run("good")) is None


async def test_an_unknown_command_is_refused_by_name(runner):
    with pytest.raises(InvalidInput, match="nobody"):
        await runner.check(("nobody",))


async def test_a_command_that_fails_is_told_in_words_not_raised(runner):
    said = await runner.run(a_run("bad"))

    assert said is not None
    assert "bad" in said
    assert "no disk" in said


async def test_a_caller_that_is_cancelled_gets_its_cancellation(runner):
    task = asyncio.create_task(runner.run(a_run("stuck")))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
