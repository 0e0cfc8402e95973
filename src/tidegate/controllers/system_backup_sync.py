"""Finds system backups that others wrote to a store: another machine, or this one before a disaster."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from tidegate.controllers.observation import all_of, settings_now
from tidegate.controllers.reconciler import Next, Watch
from tidegate.decide.system_backup import found_system_backups
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.resource import Ref
from tidegate.model.system import SystemBackup
from tidegate.model.target import BackupTarget
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.ports.system_archives import SystemArchives

log = structlog.get_logger(__name__)


@dataclass
class SystemBackupSync:
    """Makes a record for each that has none. It only ever adds: what a listing does not show may still be there."""

    store: ResourceStore
    clock: Clock
    secrets: SecretStore
    archives: SystemArchives
    name: str = "system-backup-sync"
    workers: int = 2
    watches: tuple[Watch, ...] = (Watch(BackupTarget),)
    _looked_at: dict[str, datetime] = field(default_factory=dict)
    """By uid of the target; forgotten with the process, whose successor looks once at its start."""

    async def reconcile(self, key: Ref) -> Next:
        """Look when the target's interval is over, when somebody asks, and once at the start."""
        try:
            target = await self.store.get(BackupTarget, key.name)
        except NotFound:
            return Next.done()
        now, interval = self.clock.now(), await self._interval(target)
        if (left := self._time_left(target, interval, now)) is not None:
            return Next.after(left) if left else Next.done()
        if target.status.available is not True:
            return Next.done()  # the target wakes us when it answers again
        await self.look(target)
        self._looked_at[target.metadata.uid] = now
        return Next.after(interval) if interval else Next.done()

    async def look(self, target: BackupTarget) -> int:
        """Record what is new in the store of this target; how many there were. Raises on a failed look."""
        places = await self.archives.found(await access_to(target.spec, self.secrets))
        named = {place.name: place.version for place in places}
        new = found_system_backups(target, named, await all_of(self.store, SystemBackup))
        for system in new:
            with suppress(AlreadyExists):  # somebody was quicker
                await self.store.create(system)
        if new:
            log.info("system backups found", target=target.name, count=len(new))
        return len(new)

    async def _interval(self, target: BackupTarget) -> timedelta:
        own = target.spec.poll_interval
        return own if own is not None else (await settings_now(self.store)).poll_interval

    def _time_left(self, target: BackupTarget, interval: timedelta, now: datetime) -> timedelta | None:
        """How long until the next look; nothing at all if only somebody's wish leads to one; None if it is time."""
        looked = self._looked_at.get(target.metadata.uid)
        asked = target.spec.sync_requested_at
        if looked is None or (asked is not None and asked > looked):
            return None
        if not interval:
            return timedelta()
        left = looked + interval - now
        return left if left > timedelta() else None
