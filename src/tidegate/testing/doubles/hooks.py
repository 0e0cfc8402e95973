"""Hooks that do what the test says."""

import asyncio
from dataclasses import dataclass, field

from tidegate.errors import InvalidInput
from tidegate.ports.hook_runner import HookRun


@dataclass
class FakeHooks:
    """Keeps the HookRunner's promise without processes. Hooks end well at once, unless the test says otherwise."""

    known: tuple[str, ...] = ("freeze", "thaw", "look")
    failing: dict[str, str] = field(default_factory=dict)
    """What goes wrong, by command."""
    stuck: set[str] = field(default_factory=set)
    """Commands that do not end until `let_go` is called for them."""
    runs: list[HookRun] = field(default_factory=list)
    _held: dict[str, list[asyncio.Event]] = field(default_factory=dict)

    async def check(self, command: tuple[str, ...]) -> None:
        """See HookRunner."""
        if command[0] not in self.known:
            raise InvalidInput(f"there is no hook {command[0]}", field="spec.hooks")

    async def run(self, run: HookRun) -> str | None:
        """See HookRunner."""
        self.runs.append(run)
        if run.command[0] in self.stuck:
            held = asyncio.Event()
            self._held.setdefault(run.command[0], []).append(held)
            await held.wait()
        if run.command[0] not in self.known:
            return f"there is no hook {run.command[0]}"
        return self.failing.get(run.command[0])

    def let_go(self, command: str) -> None:
        """Let those that are stuck end, and never get stuck again."""
        self.stuck.discard(command)
        for held in self._held.pop(command, []):
            held.set()

    @property
    def told(self) -> list[str]:
        """What ran, in order, such as `pre freeze shop: db`."""
        return [f"{run.stage} {run.command[0]} {run.namespace}: {' '.join(run.volumes)}" for run in self.runs]


@dataclass
class LoggedHooks(FakeHooks):
    """Notes when a hook begins and when it has ended: (command, backup, namespace, what happened)."""

    log: list[tuple[str, str, str, str]] = field(default_factory=list)

    async def run(self, run: HookRun) -> str | None:
        """See HookRunner."""
        self.log.append((run.command[0], run.backup, run.namespace, "begins"))
        try:
            return await super().run(run)
        finally:
            self.log.append((run.command[0], run.backup, run.namespace, "ended"))
