"""What every runner of hooks promises."""

import asyncio
from datetime import timedelta
from typing import Any

import pytest

from tidegate.app.machine.hook_files import HookFiles
from tidegate.errors import InvalidInput
from tidegate.model.backups.hooks import HookStage
from tidegate.ports.hook_runner import HookRun, HookRunner, NoHooks
from tidegate.testing.doubles.hooks import FakeHooks, LoggedHooks


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


SCRIPTED: dict[str, Any] = {"known": ("good", "bad", "stuck"), "failing": {"bad": "bad: no disk"}}


IMPLEMENTATIONS: dict[type[HookRunner], object] = {
    HookFiles: files,
    FakeHooks: lambda _tmp_path: FakeHooks(**SCRIPTED, stuck={"stuck"}),
    LoggedHooks: lambda _tmp_path: LoggedHooks(**SCRIPTED, stuck={"stuck"}),
    NoHooks: lambda _tmp_path: NoHooks(),
}
that_run = pytest.mark.parametrize(
    "runner", [kind for kind in IMPLEMENTATIONS if kind is not NoHooks], indirect=True, ids=lambda kind: kind.__name__
)


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def runner(request, tmp_path):
    return IMPLEMENTATIONS[request.param](tmp_path)


@that_run
async def test_a_known_command_passes_and_ends_well(runner):
    await runner.check(("good", "with", "arguments"))

    assert await runner.run(a_run("good")) is None


async def test_an_unknown_command_is_refused_by_name(runner):
    with pytest.raises(InvalidInput, match="nobody"):
        await runner.check(("nobody",))


async def test_an_unknown_command_that_runs_all_the_same_ends_with_a_sentence(runner):
    assert "nobody" in await runner.run(a_run("nobody"))


@that_run
async def test_a_command_that_fails_is_told_in_words_not_raised(runner):
    said = await runner.run(a_run("bad"))

    assert said is not None
    assert "bad" in said
    assert "no disk" in said


@that_run
async def test_a_caller_that_is_cancelled_gets_its_cancellation(runner):
    task = asyncio.create_task(runner.run(a_run("stuck")))
    await asyncio.sleep(0)
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("runner", [HookFiles], indirect=True, ids=lambda kind: kind.__name__)
async def test_a_command_never_runs_longer_than_its_timeout(runner):
    assert "stuck" in await runner.run(a_run("stuck", timeout=timedelta(seconds=0.1)))
