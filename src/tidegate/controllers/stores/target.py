"""Keeps each target's availability true, so that the queue can wait for a store instead of failing on it.

A store that is there but is another one than before is as good as away: an unmounted share leaves an empty directory.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

import structlog

from tidegate.controllers.reconcile.observation import all_of
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.decide.stores.identity import after_look, expected_of, reason_of, wants_adoption, what_is_wrong
from tidegate.decide.stores.sync_schedule import look_delay, same_message
from tidegate.decide.stores.target_away import AVAILABLE
from tidegate.errors import NotFound, TidegateError
from tidegate.model.resource import Condition, Ref
from tidegate.model.stores.catalogue import CatalogueFilter
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import UPLOADS, TransferPhase
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, way_to
from tidegate.ports.store_probe import StoreProbe

log = structlog.get_logger(__name__)

_ENOUGH_TO_RECOGNISE = 16


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
    store_probe: StoreProbe
    secrets: SecretStore
    catalogue: Catalogue | None = None
    """By what it knows a store that has no identity yet is recognised."""
    wake: Callable[[Ref], None] = lambda _ref: None
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
        last = None if wants_adoption(target) else self._looks.get(target.name)
        same = last is not None and last.generation == target.metadata.generation
        if last is not None and same and last.version != target.metadata.resource_version:
            self._looks[target.name] = replace(last, version=target.metadata.resource_version)
            left = last.again_at - self.clock.now()
            if left > timedelta():
                return Next.after(left)
        identity, error = await self._ask(target)
        before = last.failures if last is not None and same else 0
        failures = before + 1 if error else 0
        delay = look_delay(failures)
        self._looks[target.name] = _Look(
            target.metadata.generation, target.metadata.resource_version, failures, self.clock.now() + delay
        )
        try:
            await self._write(target, identity, error)
        except TidegateError:
            self._looks.pop(target.name)  # it was not written down, so it was not seen
            raise
        return Next.after(delay)

    def doubt(self, target: str) -> None:
        """A mover found another store than the target's: look now, whenever it was to be looked at next."""
        self._looks.pop(target, None)
        self.wake(Ref(BackupTarget.model_fields["kind"].default, target))

    async def _ask(self, target: BackupTarget) -> tuple[str, TidegateError | None]:
        """The identity of its store, or what is wrong."""
        expected = expected_of(target)
        try:
            access = await way_to(target, self.secrets)
            if expected.identity:
                await self.store_probe.check(access.replace(identity=expected.identity))
                return expected.identity, None
            volumes = await self._known_volumes(target.name) if expected.recognise else ()
            return await self.store_probe.identify(access, volumes=volumes), None
        except TidegateError as error:
            return "", error

    async def _known_volumes(self, target: str) -> Sequence[str]:
        """Some that should be in its store: as the catalogue says, or while that is empty, finished uploads."""
        if self.catalogue is not None:
            page = await self.catalogue.volumes(CatalogueFilter(target=target), limit=_ENOUGH_TO_RECOGNISE)
            if page.items:
                return [volume.name for volume in page.items]
        uploads = [upload for kind in UPLOADS for upload in await all_of(self.store, kind)]
        names = {
            upload.spec.store_volume
            for upload in uploads
            if upload.spec.target == target
            and upload.status.phase is TransferPhase.COMPLETED
            and not upload.data_removed
        }
        return sorted(names)[:_ENOUGH_TO_RECOGNISE]

    async def _write(self, target: BackupTarget, identity: str, error: TidegateError | None) -> None:
        """The first wording of an error stays while later ones say the same: nobody is woken by numbers in it."""
        message, store = what_is_wrong(target, error), after_look(target, identity, error)
        if same_message(target.status.message, message) and store.adopt == target.status.store.adopt:
            message = target.status.message
        condition = Condition(
            type=AVAILABLE,
            status="False" if error else "True",
            reason=reason_of(error),
            message=message,
            last_transition_time=self.clock.now(),
        )
        status = target.status.with_condition(condition)
        status = status.replace(available=error is None, message=message, store=store)
        if status != target.status:
            await self.store.update_status(target.replace(status=status))
            log.info("target checked", target=target.name, available=error is None, message=message)
