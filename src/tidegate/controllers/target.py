"""Keeps each target's availability true, so that the queue can wait for a store instead of failing on it."""

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from tidegate.controllers.reconciler import Next, Watch
from tidegate.decide.sync_schedule import look_delay, same_message
from tidegate.errors import NotFound, TidegateError
from tidegate.model.resource import Condition, Ref
from tidegate.model.target import BackupTarget
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.ports.surroundings import Surroundings

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class _Look:
    """When a target was last asked, as which it was seen then, and how often in a row it did not answer."""

    generation: int
    version: str
    failures: int
    again_at: datetime


@dataclass
class TargetController:
    """Owns whether a target is available. The looks themselves need not outlive the process."""

    store: ResourceStore
    clock: Clock
    surroundings: Surroundings
    secrets: SecretStore
    name: str = "target"
    workers: int = 4
    watches: tuple[Watch, ...] = (Watch(BackupTarget),)
    _looks: dict[str, _Look] = field(default_factory=dict)

    async def reconcile(self, key: Ref) -> Next:
        """Ask the store, write down what it said.

        What we and the catalogue write into the status wakes us too. That is no reason to ask: each answer would cause
        the next question, and a message with a number in it would cause them without end (longhorn#13831).
        """
        try:
            target = await self.store.get(BackupTarget, key.name)
        except NotFound:
            self._looks.pop(key.name, None)
            return Next.done()
        last = self._looks.get(target.name)
        same = last is not None and last.generation == target.metadata.generation
        if last is not None and same and last.version != target.metadata.resource_version:
            self._looks[target.name] = replace(last, version=target.metadata.resource_version)
            left = last.again_at - self.clock.now()
            if left > timedelta():
                return Next.after(left)
        error = await self._ask(target)
        before = last.failures if last is not None and same else 0
        failures = before + 1 if error else 0
        delay = look_delay(failures)
        self._looks[target.name] = _Look(
            target.metadata.generation, target.metadata.resource_version, failures, self.clock.now() + delay
        )
        try:
            await self._write(target, error)
        except TidegateError:
            self._looks.pop(target.name)  # it was not written down, so it was not seen
            raise
        return Next.after(delay)

    async def _ask(self, target: BackupTarget) -> TidegateError | None:
        try:
            await self.surroundings.check_target(await access_to(target.spec, self.secrets))
        except TidegateError as error:
            return error
        return None

    async def _write(self, target: BackupTarget, error: TidegateError | None) -> None:
        """The first wording of an error stays while later ones say the same: nobody is woken by numbers in it."""
        message = error.message if error else ""
        if same_message(target.status.message, message):
            message = target.status.message
        condition = Condition(
            type="Available",
            status="False" if error else "True",
            reason="NoAnswer" if error else "Answered",
            message=message,
            last_transition_time=self.clock.now(),
        )
        status = target.status.with_condition(condition).replace(available=error is None, message=message)
        if status != target.status:
            await self.store.update_status(target.replace(status=status))
            log.info("target checked", target=target.name, available=error is None, message=message)
