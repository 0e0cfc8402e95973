"""Finds system backups that others wrote to a store: another machine, or this one before a disaster."""

from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime

import structlog

from tidegate.controllers.reconcile.observation import all_of
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.decide.system.backup import found_system_backups
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.resource import Ref
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.ports.system_archives import SystemArchives

log = structlog.get_logger(__name__)


@dataclass
class SystemBackupSync:
    """Makes a record for each that has none. It only ever adds: what a listing does not show may still be there.

    When to look is not decided here: each sync of the target that saw its store is followed by one listing. So the
    target's interval, whoever asks for a sync, and a store that is away count for system backups as for the rest.
    """

    store: ResourceStore
    secrets: SecretStore
    archives: SystemArchives
    name: str = "system-backup-sync"
    workers: int = 2
    watches: tuple[Watch, ...] = (Watch(BackupTarget),)
    _after: dict[str, datetime] = field(default_factory=dict)
    """By uid of the target, the sync that the last look followed; forgotten with the process, so that a server looks
    once when it starts."""

    async def reconcile(self, key: Ref) -> Next:
        """Look if the target was synced since the last look. One that fails is tried again, slower each time."""
        try:
            target = await self.store.get(BackupTarget, key.name)
        except NotFound:
            return Next.done()
        uid, synced = target.metadata.uid, target.status.last_synced_at
        if synced is None or self._after.get(uid) == synced or not (target.status.available and target.identified):
            return Next.done()  # the next sync, or the target when it answers again, wakes us
        await self._look(target)
        self._after[uid] = synced
        return Next.done()

    async def _look(self, target: BackupTarget) -> None:
        """Record what is new in the store of this target. Raises on a failed look."""
        places = await self.archives.found(await access_to(target, self.secrets))
        named = {place.name: place.version for place in places}
        new = found_system_backups(target, named, await all_of(self.store, SystemBackup))
        for system in new:
            with suppress(AlreadyExists):  # somebody was quicker
                await self.store.create(system)
        if new:
            log.info("system backups found", target=target.name, count=len(new))
