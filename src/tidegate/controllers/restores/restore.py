"""Carries one restore to its end: settles what it reads and writes, makes its downloads, tells how they ended."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from tidegate.controllers.reconcile.backup_choice import chosen_backup
from tidegate.controllers.reconcile.cancelling import cancel_all
from tidegate.controllers.reconcile.finalizers import let_go
from tidegate.controllers.reconcile.observation import all_of, all_transfers, over_or_deleting
from tidegate.controllers.reconcile.reconciler import Next, Watch, owners
from tidegate.controllers.restores.downloads import download_for
from tidegate.decide.backups.cancelling import did_not_stop, time_left_to_stop
from tidegate.decide.jobs.events import with_events
from tidegate.decide.restores.places import Placement, Volumes, volumes_written
from tidegate.decide.restores.progress import after_look, refused
from tidegate.decide.restores.reading import RestoreSource, source_in_backup, source_in_store
from tidegate.errors import AlreadyExists, NotFound, UserError
from tidegate.model.labels import Selector
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref, Resource
from tidegate.model.restores.restore import RESTORE_FINALIZER, Restore, RestorePhase, RestoreProgress
from tidegate.model.transfers.transfer import (
    BACKUP_LABEL,
    DOWNLOADS,
    RESTORE_LABEL,
    Transfer,
    TransferPhase,
)
from tidegate.model.volumes.volume import Volume
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)


_BEFORE_IT_MOVES = frozenset({TransferPhase.NEW, TransferPhase.ACCEPTED, TransferPhase.PREPARED})


def _waits_or_begins(download: Resource) -> bool:
    if not isinstance(download, Transfer):
        return False
    status = download.status
    begins = status.phase is TransferPhase.IN_PROGRESS and status.progress is None
    return begins or status.phase in _BEFORE_IT_MOVES


@dataclass
class RestoreController:
    """Owns every step of a restore but one: the queue lets it begin."""

    store: ResourceStore
    clock: Clock
    name: str = "restore"
    workers: int = 4
    watches: tuple[Watch, ...] = (
        Watch(Restore),
        *(Watch(kind, owners("Restore", of=over_or_deleting)) for kind in DOWNLOADS),
        # Why it waits follows its downloads at a distance: each look is at all of them.
        *(Watch(kind, owners("Restore", of=_waits_or_begins), after=timedelta(seconds=0.25)) for kind in DOWNLOADS),
    )

    async def reconcile(self, key: Ref) -> Next:
        """One step of one restore."""
        try:
            restore = await self.store.get(Restore, key.name)
        except NotFound:
            return Next.done()
        if restore.deleting:
            await self._take_apart(restore)
        elif restore.status.phase is RestorePhase.NEW and not restore.settled:
            await self._settle(restore)
        elif restore.status.phase is RestorePhase.IN_PROGRESS:
            await self._go_on(restore)
            return await self._see_cancel_through(restore.name) if restore.spec.cancel else Next.done()
        return Next.done()

    async def _settle(self, restore: Restore) -> None:
        """What it reads and which volumes it writes to. It may have changed since the API looked."""
        now = self.clock.now()
        try:
            found = await self._source(restore)
        except UserError as error:
            await self._write(restore, refused(restore, (error.message,), now=now))
            return
        volumes = await self._volumes()
        places = found.placed(restore.spec, volumes)
        if places and all(placement.problem for placement in places):
            await self._write(restore, refused(restore, tuple(p.problem for p in places), now=now))
            return
        status = restore.status.replace(
            backup_name=found.backup,
            source=restore.source_volume_backup,
            target_volumes=volumes_written(places, volumes),
        )
        await self._write(
            restore, restore.replace(status=status.waiting(Reason.PENDING_EVALUATION, "not looked at yet", since=now))
        )

    async def _source(self, restore: Restore) -> RestoreSource:
        """What it reads. Raises UserError with a sentence where there is nothing to read."""
        if restore.spec.backup_url:
            return source_in_store(restore.source_volume_backup)
        backup = await chosen_backup(self.store, restore.source_backup, schedule=restore.spec.schedule_name)
        uploads = await all_transfers(self.store, Selector.matching({BACKUP_LABEL: backup.metadata.uid}))
        return source_in_backup(restore.spec, backup, uploads)

    async def _go_on(self, restore: Restore) -> None:
        now = self.clock.now()
        downloads = await self._downloads(restore)
        if restore.spec.cancel:
            await cancel_all(self.store, downloads)  # each ends by itself, soon: a mover that does not stop is killed
        elif restore.status.progress is None:
            try:
                found = await self._source(restore)
            except UserError as error:
                ended = restore.with_status(
                    phase=RestorePhase.FAILED, failure_reason=error.message, completion_timestamp=now
                )
                await self._write(restore, ended)
                return
            await self._create_downloads(restore, found.placed(restore.spec, await self._volumes()))
            return
        await self._write(restore, after_look(restore, downloads, now=now))

    async def _create_downloads(self, restore: Restore, found: Sequence[Placement]) -> None:
        """One per volume. The progress is written last: as long as it is absent, creating goes on here."""
        for nth, placement in enumerate(found):
            try:
                await self.store.create(download_for(restore, placement, nth))
            except AlreadyExists:
                continue  # we were here before
        await self.store.update_status(restore.with_status(progress=RestoreProgress(total_items=len(found))))

    async def _see_cancel_through(self, name: str) -> Next:
        """End a cancelled restore whose downloads do not end; it must not keep its namespaces for ever."""
        restore = await self.store.get(Restore, name)
        if restore.status.phase is not RestorePhase.IN_PROGRESS:
            return Next.done()
        now = self.clock.now()
        requested_at = restore.status.cancel_requested_at
        if requested_at is None:
            requested_at = now
            restore = await self.store.update_status(restore.with_status(cancel_requested_at=now))
        left = time_left_to_stop(requested_at, now)
        if left:
            return Next.after(left)
        why = did_not_stop(await self._downloads(restore))
        ended = restore.with_status(phase=RestorePhase.CANCELED, failure_reason=why, completion_timestamp=now)
        await self._write(restore, ended)
        return Next.done()

    async def _write(self, before: Restore, after: Restore) -> None:
        """Nothing is written if nothing differs."""
        await self.store.update_status(with_events(before, after, now=self.clock.now()))
        if after.status.phase.final:
            log.info("restore ended", restore=after.name, phase=str(after.status.phase))

    async def _take_apart(self, restore: Restore) -> None:
        downloads = await self._downloads(restore)
        for download in downloads:
            if not download.deleting:
                await self.store.delete(download.ref, uid=download.metadata.uid)
        if not downloads:
            await let_go(self.store, restore, RESTORE_FINALIZER)

    async def _downloads(self, restore: Restore) -> list[Transfer]:
        return await all_transfers(self.store, Selector.matching({RESTORE_LABEL: restore.metadata.uid}))

    async def _volumes(self) -> Volumes:
        return {(volume.namespace, volume.name): volume for volume in await all_of(self.store, Volume)}
