"""Hooks: what is run before and after the data of some volumes is read. The shape is Velero's."""

from datetime import timedelta
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator, Field

from tidegate.model.duration import Duration
from tidegate.model.frozen import Model
from tidegate.model.label_selector import LabelSelector

# An application that is frozen for longer than this has a worse problem than a missing backup.
LONGEST_TIMEOUT = timedelta(hours=1)


class HookStage(StrEnum):
    """When a hook runs: before the first byte of its block is read, or after the last one was."""

    PRE = "pre"
    POST = "post"


class OnError(StrEnum):
    """What a failed hook means. Fail: its volumes are not backed up. Continue: a warning."""

    FAIL = "Fail"
    CONTINUE = "Continue"


def _checked_command(command: tuple[str, ...]) -> tuple[str, ...]:
    program = command[0]
    if not program or "/" in program or program.startswith(".") or not program.isprintable():
        raise ValueError(f"{program!r} is not the plain name of a file in the server's hooks directory")
    if any("\0" in word for word in command):
        raise ValueError("a command cannot hold a null character")
    return command


def _checked_timeout(timeout: timedelta) -> timedelta:
    if not timedelta() < timeout <= LONGEST_TIMEOUT:
        raise ValueError("a timeout is longer than nothing and at most one hour")
    return timeout


HookCommand = Annotated[tuple[str, ...], AfterValidator(_checked_command)]
HookTimeout = Annotated[Duration, AfterValidator(_checked_timeout)]


class ExecHook(Model):
    """One command."""

    command: HookCommand = Field(min_length=1, max_length=64)
    """The name of a file that the operator put into the server's hooks directory, then its arguments."""
    on_error: OnError = OnError.FAIL
    timeout: HookTimeout = timedelta(seconds=30)
    """After this it is killed, and counts as failed."""


class Hook(Model):
    """One thing to do. `exec` is the only kind so far."""

    exec: ExecHook


class ResourceHooks(Model):
    """Hooks for the volumes of some namespaces."""

    name: str = Field(min_length=1, max_length=253)
    included_namespaces: tuple[str, ...] = ()
    """Names or globs; empty or `*` means all namespaces of the backup."""
    excluded_namespaces: tuple[str, ...] = ()
    label_selector: LabelSelector | None = None
    """Only volumes with these labels."""
    pre: tuple[Hook, ...] = Field(default=(), max_length=32)
    post: tuple[Hook, ...] = Field(default=(), max_length=32)

    def at(self, stage: HookStage) -> tuple[ExecHook, ...]:
        """What is to be run at this stage, in order."""
        return tuple(hook.exec for hook in (self.pre if stage is HookStage.PRE else self.post))


class BackupHooks(Model):
    """All hooks of one backup."""

    resources: tuple[ResourceHooks, ...] = Field(default=(), max_length=64)


class HookStatus(Model):
    """What came of the hooks so far. The first two counts are Velero's."""

    hooks_attempted: int = 0
    hooks_failed: int = 0
    errors: int = 0
    """Failures that no failed volume tells of: of post hooks with onError Fail."""
    warnings: int = 0
    problems: tuple[str, ...] = ()
    """The first few failures, in words."""
