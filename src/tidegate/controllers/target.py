"""Keeps each target's availability true, so that the queue can wait for a store instead of failing on it."""

from dataclasses import dataclass
from datetime import timedelta

import structlog

from tidegate.controllers.reconciler import Next, Watch
from tidegate.errors import NotFound, TidegateError
from tidegate.model.resource import Condition, Ref
from tidegate.model.target import BackupTarget
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.ports.surroundings import Surroundings

log = structlog.get_logger(__name__)

_WHEN_WELL = Next.after(timedelta(seconds=30))
_WHEN_NOT = Next.after(timedelta(seconds=5))


@dataclass
class TargetController:
    """Owns the status of targets."""

    store: ResourceStore
    clock: Clock
    surroundings: Surroundings
    secrets: SecretStore
    name: str = "target"
    workers: int = 4
    watches: tuple[Watch, ...] = (Watch(BackupTarget),)

    async def reconcile(self, key: Ref) -> Next:
        """Ask the store, write down what it said."""
        try:
            target = await self.store.get(BackupTarget, key.name)
        except NotFound:
            return Next.done()
        try:
            await self.surroundings.check_target(await access_to(target.spec, self.secrets))
        except TidegateError as error:
            await self._write(target, available=False, message=str(error))
            return _WHEN_NOT
        await self._write(target, available=True, message="")
        return _WHEN_WELL

    async def _write(self, target: BackupTarget, *, available: bool, message: str) -> None:
        condition = Condition(
            type="Available",
            status="True" if available else "False",
            reason="Answered" if available else "NoAnswer",
            message=message,
            last_transition_time=self.clock.now(),
        )
        status = target.status.with_condition(condition).replace(available=available, message=message)
        if status != target.status:
            await self.store.update_status(target.replace(status=status))
            log.info("target checked", target=target.name, available=available, message=message)
