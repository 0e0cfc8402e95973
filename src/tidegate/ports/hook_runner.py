"""Where hooks run: files of the operator on one machine, containers on Kubernetes."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Protocol

from tidegate.errors import InvalidInput
from tidegate.model.backups.hooks import HookStage
from tidegate.model.verification.verification import CheckStage


@dataclass(frozen=True)
class HookRun:
    """One command to run, and what it may know about why."""

    command: tuple[str, ...]
    timeout: timedelta
    stage: HookStage | CheckStage
    backup: str
    namespace: str
    volumes: tuple[str, ...]
    place: str = ""
    """Where restored data lies that it shall look at; empty for hooks."""


class HookRunner(Protocol):
    """Runs what an operator has put in place, and nothing else."""

    async def check(self, command: tuple[str, ...]) -> None:
        """Raises InvalidInput with a sentence if this command could not be run: who asks for it must hear it."""
        ...

    async def run(self, run: HookRun) -> str | None:
        """Run it to its end: None if that was good, else a sentence with the tail of what it said.

        Never takes longer than its timeout, and raises nothing for what goes wrong with the command. When the caller
        is cancelled, the command and what it started are ended first.
        """
        ...


class NoHooks:
    """Runs nothing: for whoever has no place for hooks."""

    async def check(self, command: tuple[str, ...]) -> None:
        """See HookRunner."""
        raise InvalidInput(f"hook {command[0]} cannot be run: this server runs no hooks", field="spec.hooks")

    async def run(self, run: HookRun) -> str | None:
        """See HookRunner."""
        return f"{run.command[0]} cannot be run: this server runs no hooks"
