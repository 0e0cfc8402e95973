"""Carries one system restore to its end: definitions in their order, then volumes through ordinary Restores."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta

import structlog

from tidegate.controllers.reconcile.observation import all_of, settings_now
from tidegate.controllers.reconcile.reconciler import Next, Watch, owners
from tidegate.controllers.system.restore_planner import here
from tidegate.decide.stores.target_away import why_wait
from tidegate.decide.system.progress import bytes_restored
from tidegate.decide.system.restore import PlannedDefinition, marked_done, merged, plan_definitions
from tidegate.decide.system.restore_volumes import (
    all_over,
    failure_of,
    restore_for,
    volumes_as_they_are,
    with_restore_names,
)
from tidegate.errors import AlreadyExists, DamageError, NotFound, RetryableError, StaleVersion, UserError
from tidegate.format.cfgs.system_backup_cfg import split_archive_url
from tidegate.model.labels import Selector
from tidegate.model.resource import Ref
from tidegate.model.restores.restore import Restore
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SYSTEM_RESTORE_LABEL
from tidegate.model.system.system_restore import (
    ArchiveSource,
    DefinitionAction,
    RestoredVolume,
    RestoredVolumeState,
    SystemRestore,
    SystemRestorePhase,
)
from tidegate.model.system_archive import SystemArchive
from tidegate.model.transfers.transfer import DOWNLOADS, RESTORE_LABEL, Transfer
from tidegate.model.volumes.volume import Volume
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.ports.system_archives import SystemArchives
from tidegate.ports.system_restore_plans import SystemRestorePlans

log = structlog.get_logger(__name__)

_ASK_AGAIN = timedelta(seconds=10)


@dataclass
class SystemRestoreController:
    """Owns every step of a system restore."""

    store: ResourceStore
    clock: Clock
    secrets: SecretStore
    archives: SystemArchives
    plans: SystemRestorePlans
    name: str = "system-restore"
    workers: int = 1
    watches: tuple[Watch, ...] = (Watch(SystemRestore), Watch(Restore, owners("SystemRestore")))

    async def reconcile(self, key: Ref) -> Next:
        """One step of one system restore."""
        try:
            system = await self.store.get(SystemRestore, key.name)
        except NotFound:
            return Next.done()
        if system.deleting or system.status.phase.final:
            return Next.done()
        try:
            await self._step(system)
        except StaleVersion:
            raise
        except RetryableError as error:
            return await self._ask_again(system, error)
        except (UserError, DamageError) as error:
            await self._end(system, SystemRestorePhase.ERROR, error.message)
        return Next.done()

    async def _step(self, system: SystemRestore) -> None:
        phase = system.status.phase
        if phase is SystemRestorePhase.NEW:
            now = self.clock.now()
            deadline = now + (await settings_now(self.store)).system_backup_upload_timeout
            begun = system.with_status(phase=SystemRestorePhase.DOWNLOADING, start_timestamp=now, deadline=deadline)
            source = _source(system)
            await self.store.update_status(begun.with_status(target=source.target, source_url=source.url))
        elif phase is SystemRestorePhase.DOWNLOADING:
            await self._plan(system)
        elif phase is SystemRestorePhase.RESTORING:
            await self._restore_definitions(system)
        elif phase is SystemRestorePhase.RESTORING_VOLUMES and system.status.volumes_requested_at is None:
            await self._request(system)
        elif phase is SystemRestorePhase.RESTORING_VOLUMES:
            await self._look(system)

    async def _plan(self, system: SystemRestore) -> None:
        """Read the archive before anything is changed, and settle what becomes of each row."""
        status = system.status.no_longer_waiting().replace(phase=SystemRestorePhase.RESTORING)
        if system.planned:  # an earlier version of this server planned when it was asked
            await self._archive(system)
        else:
            plan = await self.plans.plan(_source(system), system.spec.volumes)
            status = status.replace(definitions=plan.definitions, volumes=plan.volumes)
        await self.store.update_status(system.replace(status=status))

    async def _restore_definitions(self, system: SystemRestore) -> None:
        """Make them as the archive says; doing it again after a crash changes nothing that is so already."""
        archive = await self._archive(system)
        for planned in plan_definitions(archive, await here(self.store, through=_source(system).target)):
            await self._apply(planned)
        status = system.status.no_longer_waiting().replace(
            phase=SystemRestorePhase.RESTORING_VOLUMES,
            definitions=marked_done(system.status.definitions),
            volumes=with_restore_names(system),
            deadline=None,
        )
        await self.store.update_status(system.replace(status=status))
        log.info("definitions restored", system_restore=system.name, count=len(status.definitions))

    async def _apply(self, planned: PlannedDefinition) -> None:
        wanted = planned.wanted
        if planned.action is DefinitionAction.CREATE:
            try:
                await self.store.create(wanted)
            except AlreadyExists:
                raise StaleVersion(f"{wanted.ref} was made by somebody else meanwhile") from None
        elif planned.action is DefinitionAction.UPDATE:
            stored = await self.store.get(type(wanted), wanted.name, wanted.namespace)
            await self.store.update(merged(stored, wanted))

    async def _request(self, system: SystemRestore) -> None:
        """Make the Restores; the moment is written last: as long as it is absent, making goes on here."""
        rows = [await self._requested(system, row) for row in system.status.volumes]
        now = self.clock.now()
        await self.store.update_status(system.with_status(volumes=tuple(rows), volumes_requested_at=now))

    async def _requested(self, system: SystemRestore, row: RestoredVolume) -> RestoredVolume:
        if row.restore is None or row.state is not RestoredVolumeState.WAITING:
            return row
        namespace, _, name = row.volume.partition("/")
        try:
            volume = await self.store.get(Volume, name, namespace)
        except NotFound:
            return row.replace(state=RestoredVolumeState.FAILED, reason="the volume was deleted meanwhile")
        with suppress(AlreadyExists):  # we were here before: the name has our uid in it
            await self.store.create(restore_for(system, row, volume))
        return row

    async def _look(self, system: SystemRestore) -> None:
        mine = Selector.matching({SYSTEM_RESTORE_LABEL: system.metadata.uid})
        restores = {restore.name: restore for restore in await all_of(self.store, Restore, mine)}
        rows = volumes_as_they_are(system.status.volumes, restores)
        if not all_over(rows):
            return
        moved = bytes_restored(rows, restores, await self._downloads(restores.values()))
        system = system.with_status(volumes=rows, bytes=moved.at_end() if moved else None)
        why = failure_of(rows)
        phase = SystemRestorePhase.COMPLETED if why is None else SystemRestorePhase.PARTIALLY_FAILED
        await self._end(system, phase, why)

    async def _downloads(self, restores: Iterable[Restore]) -> list[Transfer]:
        return [
            download
            for restore in restores
            for kind in DOWNLOADS
            for download in await all_of(self.store, kind, Selector.matching({RESTORE_LABEL: restore.metadata.uid}))
        ]

    async def _end(self, system: SystemRestore, phase: SystemRestorePhase, why: str | None) -> None:
        status = system.status.no_longer_waiting().replace(
            phase=phase, failure_reason=why, deadline=None, completion_timestamp=self.clock.now()
        )
        await self.store.update_status(system.replace(status=status))
        log.info("system restore ended", system_restore=system.name, phase=str(phase), reason=why or "")

    async def _ask_again(self, system: SystemRestore, error: RetryableError) -> Next:
        """The store is away: say so and come back, but not for ever."""
        now, deadline = self.clock.now(), system.status.deadline
        if deadline is not None and now >= deadline:
            why = f"the target did not answer in time: {error.message}"
            await self._end(system, SystemRestorePhase.ERROR, why)
            return Next.done()
        told = system.status.waiting(why_wait(error), error.message, since=now)
        await self.store.update_status(system.replace(status=told))
        return Next.after(_ASK_AGAIN)

    async def _archive(self, system: SystemRestore) -> SystemArchive:
        source = _source(system)
        target = await self.store.get(BackupTarget, source.target)
        parts = split_archive_url(source.url)
        if parts is None:
            raise NotFound(f"{source.url} is not the URL of a system backup")
        return await self.archives.read(await access_to(target, self.secrets), parts[1])


def _source(system: SystemRestore) -> ArchiveSource:
    if system.source is None:
        raise NotFound("nobody has looked yet for the archive; ask for it with: tidegate system restore create")
    return system.source
