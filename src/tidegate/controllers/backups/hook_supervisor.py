"""Holds on to the hooks that this process runs, and to what came of them until it is written down.

Nothing here is state that must survive: which block is at its hooks is in the store, and a hook ends with its server.
What a damaged store can no longer say of blocks under way is remembered, so that no application stays frozen.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import structlog

from tidegate.decide.backups.block_hooks import HookFailure, StageResult, hooks_at
from tidegate.decide.backups.block_steps import HookKey, block_key
from tidegate.decide.backups.interruption import owes_post_hooks
from tidegate.model.backups.backup import Backup
from tidegate.model.backups.hooks import HookStage, OnError
from tidegate.model.backups.item_block import BlockProgress
from tidegate.model.resource import Ref
from tidegate.ports.hook_runner import HookRun, HookRunner

log = structlog.get_logger(__name__)

Attempt = tuple[str, int]

CALLED_OFF = "stopped, because the backup was called off"


@dataclass(frozen=True)
class _Order:
    """One hook of a block."""

    name: str
    run: HookRun
    on_error: OnError


@dataclass
class HookSupervisor:
    """At most one run of a block's hooks at a stage; starting one that runs already changes nothing."""

    runner: HookRunner
    wake: Callable[[Ref], None] = lambda _ref: None
    _running: dict[tuple[Attempt, HookKey], asyncio.Task[None]] = field(default_factory=dict)
    _results: dict[Attempt, dict[HookKey, StageResult]] = field(default_factory=dict)
    _owing: dict[str, Backup] = field(default_factory=dict)
    """Backups with applications that may be frozen, by uid, as they were stored last."""

    def results(self, backup: Backup) -> dict[HookKey, StageResult]:
        """What came of hooks of this backup and is not forgotten yet."""
        return dict(self._results.get(_attempt(backup), {}))

    def ensure(self, backup: Backup, block: BlockProgress, stage: HookStage) -> None:
        """Have the block's hooks run; the backup is woken when all have ended."""
        attempt, key = _attempt(backup), block_key(block, stage)
        if (attempt, key) in self._running or key in self._results.get(attempt, {}):
            return
        orders = _orders(backup, block, stage)
        task = asyncio.create_task(self._run_all(orders, attempt, key, backup.ref), name=f"hooks {key}")
        self._running[attempt, key] = task

    def stop(self, backup: Backup, key: HookKey) -> None:
        """End what runs. There is a result afterwards also where nothing ran."""
        attempt = _attempt(backup)
        task = self._running.get((attempt, key))
        if task is not None:
            task.cancel()
        elif key not in self._results.get(attempt, {}):
            self._ended(attempt, key, StageResult(), backup.ref)

    def forget(self, backup: Backup, keys: Sequence[HookKey]) -> None:
        """These results have been written down."""
        attempt = _attempt(backup)
        known = self._results.get(attempt, {})
        for key in keys:
            known.pop(key, None)
        if not known:
            self._results.pop(attempt, None)

    def remember(self, backup: Backup) -> None:
        """The backup is stored like this now, so these of its blocks may have frozen something."""
        if any(owes_post_hooks(backup, block) for block in backup.status.blocks):
            self._owing[backup.metadata.uid] = backup
        else:
            self._owing.pop(backup.metadata.uid, None)

    async def thaw_all(self) -> None:
        """End the pre hooks that run, then run every post hook that is owed. Asks no store: there may be none left."""
        for (_, (_, stage)), task in self._running.items():
            if stage is HookStage.PRE:
                task.cancel()
        await asyncio.gather(*self._running.values(), return_exceptions=True)
        await asyncio.gather(*map(self._thaw, self._owing.values()))

    async def _thaw(self, backup: Backup) -> None:
        ended = self.results(backup)
        for block in backup.status.blocks:
            if not owes_post_hooks(backup, block) or block_key(block, HookStage.POST) in ended:
                continue
            for order in _orders(backup, block, HookStage.POST):
                if (why := await self._run_one(order)) is not None:
                    log.warning("hook failed", backup=backup.name, hook=order.name, why=why)

    async def _run_all(self, orders: Sequence[_Order], attempt: Attempt, key: HookKey, on_news: Ref) -> None:
        """One after the other. Before data is read the first real failure ends it; afterwards each gets its chance."""
        attempted, failures = 0, list[HookFailure]()
        try:
            for order in orders:
                attempted += 1
                why = await self._run_one(order)
                if why is not None:
                    message = f"{order.run.stage} hook {order.name} for {order.run.namespace}: {why}"
                    failures.append(HookFailure(message, order.on_error))
                    log.warning("hook failed", backup=order.run.backup, hook=order.name, why=why)
                    if order.on_error is OnError.FAIL and order.run.stage is HookStage.PRE:
                        break
        except asyncio.CancelledError:
            failures.append(HookFailure(CALLED_OFF, OnError.CONTINUE))
        self._running.pop((attempt, key), None)
        self._ended(attempt, key, StageResult(attempted, tuple(failures)), on_news)

    async def _run_one(self, order: _Order) -> str | None:
        log.info("hook runs", backup=order.run.backup, hook=order.name, stage=str(order.run.stage))
        try:
            return await self.runner.run(order.run)
        except Exception as error:
            # Whatever it was: a block that never hears of its hooks would be frozen for ever.
            log.exception("hook could not be run", hook=order.name)
            return f"{type(error).__name__}: {error}"

    def _ended(self, attempt: Attempt, key: HookKey, result: StageResult, on_news: Ref) -> None:
        self._results.setdefault(attempt, {})[key] = result
        self.wake(on_news)


def _orders(backup: Backup, block: BlockProgress, stage: HookStage) -> list[_Order]:
    return [
        _Order(
            name, HookRun(hook.command, hook.timeout, stage, backup.name, call.namespace, call.volumes), hook.on_error
        )
        for call, name, hook in hooks_at(backup.spec.hooks, block, stage)
    ]


def _attempt(backup: Backup) -> Attempt:
    return backup.metadata.uid, backup.status.attempt
