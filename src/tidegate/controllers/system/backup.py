"""Carries one system backup from asking to an archive in the store, and takes it apart when it is deleted."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

import structlog

from tidegate.controllers.reconcile.cancelling import cancel_all
from tidegate.controllers.reconcile.finalizers import let_go
from tidegate.controllers.reconcile.observation import all_of, settings_now
from tidegate.controllers.reconcile.reconciler import Next, Watch, owners
from tidegate.controllers.system.backup_looks import archive_of, changed_volumes, last_backups, uploads_of
from tidegate.decide.stores.target_away import why_wait
from tidegate.decide.system.backup import (
    backups_to_hand_over,
    backups_to_make,
    decide_volumes,
    failure_of,
    judge_backups,
    volumes_as_they_are,
)
from tidegate.decide.system.progress import bytes_backed_up
from tidegate.errors import (
    AlreadyExists,
    CatalogueNotRead,
    DamageError,
    NotFound,
    RetryableError,
    StaleVersion,
    UserError,
)
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import (
    SYSTEM_BACKUP_FINALIZER,
    SYSTEM_BACKUP_LABEL,
    SystemBackup,
    SystemBackupPhase,
)
from tidegate.model.system_archive import SystemArchive
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.volumes.volume import Volume
from tidegate.ports.catalogue import Catalogue
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.ports.system_archives import StoredArchive, SystemArchives
from tidegate.ports.volume_probe import VolumeProbe

log = structlog.get_logger(__name__)

_ASK_AGAIN = timedelta(seconds=10)


@dataclass
class SystemBackupController:
    """Owns every step of a system backup."""

    store: ResourceStore
    clock: Clock
    secrets: SecretStore
    archives: SystemArchives
    volume_probe: VolumeProbe
    version: str
    catalogue: Catalogue | None = None
    """Without one, only what this server made counts as a backup."""
    name: str = "system-backup"
    workers: int = 2
    watches: tuple[Watch, ...] = (Watch(SystemBackup), Watch(Backup, owners("SystemBackup")))
    _generated: dict[str, SystemArchive] = field(default_factory=dict)
    """By uid, until it is uploaded: may be forgotten at any time, and is then made again."""

    async def reconcile(self, key: Ref) -> Next:
        """One step of one system backup."""
        try:
            system = await self.store.get(SystemBackup, key.name)
        except NotFound:
            return Next.done()
        try:
            return await self._step(system)
        except StaleVersion:
            raise
        except RetryableError as error:
            return await self._ask_again(system, error)
        except (UserError, DamageError) as error:
            if system.deleting:
                raise
            return await self._end(system, error.message)

    async def _step(self, system: SystemBackup) -> Next:
        phase = system.status.phase
        if system.deleting:
            await self._take_apart(system)
        elif phase is SystemBackupPhase.NEW and system.spec.found_version is not None:
            syncing = system.with_status(phase=SystemBackupPhase.SYNCING, version=system.archive_version)
            await self.store.update_status(syncing)
        elif phase is SystemBackupPhase.NEW:
            await self._begin(system)
        elif phase is SystemBackupPhase.CREATING_VOLUME_BACKUPS:
            return await self._back_volumes_up(system)
        elif phase is SystemBackupPhase.GENERATING:
            await self._generate(system)
        elif phase is SystemBackupPhase.UPLOADING:
            await self._upload(system)
        elif phase is SystemBackupPhase.SYNCING:
            await self._sync(system)
        return Next.done()

    async def _begin(self, system: SystemBackup) -> None:
        """Decide about every volume, once, and write it down before anything is made."""
        for place in await self.archives.found(await self._access(system)):
            if place.name == system.name:
                raise AlreadyExists(f"the store already has a system backup {place.name} (version {place.version})")
        volumes = await all_of(self.store, Volume)
        last = await last_backups(self.store, self.catalogue, volumes)
        changed = await changed_volumes(self.volume_probe, system, volumes, last)
        now, settings = self.clock.now(), await settings_now(self.store)
        status = system.status.no_longer_waiting().replace(
            phase=SystemBackupPhase.CREATING_VOLUME_BACKUPS,
            start_timestamp=now,
            deadline=now + settings.system_backup_volume_timeout,
            volumes=decide_volumes(system, volumes, last, changed),
        )
        await self.store.update_status(system.replace(status=status))
        log.info("system backup started", system_backup=system.name, policy=str(system.spec.volume_backup_policy))

    async def _back_volumes_up(self, system: SystemBackup) -> Next:
        if system.status.volumes_requested_at is None:
            await self._request(system)
            return Next.done()
        backups = {backup.name: backup for backup in await self._backups(system)}
        now, limit = self.clock.now(), (await settings_now(self.store)).system_backup_volume_timeout
        verdict = judge_backups(system, backups, now=now, limit=limit)
        if verdict.deadline is not None:
            await self.store.update_status(system.with_status(deadline=verdict.deadline))
            return Next.after(verdict.deadline - now)
        await cancel_all(self.store, (backups[name] for name in verdict.overdue))
        uploads = await uploads_of(self.store, backups.values())
        rows = volumes_as_they_are(system.status.volumes, backups, uploads, overdue=verdict.overdue)
        moved = bytes_backed_up(rows, backups, uploads, {})
        told = system.with_status(volumes=rows, bytes=moved.at_rest() if moved else None)
        if (why := failure_of(rows, limit=limit if verdict.overdue else None)) is not None:
            return await self._end(told, why)
        await self.store.update_status(told.with_status(phase=SystemBackupPhase.GENERATING, deadline=None))
        return Next.done()

    async def _request(self, system: SystemBackup) -> None:
        """Make the Backups; the moment is written last: as long as it is absent, making goes on here."""
        for backup in backups_to_make(system):
            try:
                await self.store.create(backup)
            except AlreadyExists:
                continue  # we were here before: the name has our uid in it
        await self.store.update_status(system.with_status(volumes_requested_at=self.clock.now()))

    async def _generate(self, system: SystemBackup) -> None:
        now = self.clock.now()
        upload_timeout = (await settings_now(self.store)).system_backup_upload_timeout
        generated = system.with_status(
            phase=SystemBackupPhase.UPLOADING, version=self.version, created_at=now, deadline=now + upload_timeout
        )
        self._generated[system.metadata.uid] = await archive_of(self.store, generated)
        await self.store.update_status(generated)

    async def _upload(self, system: SystemBackup) -> None:
        access = await self._access(system)
        archive = self._generated.get(system.metadata.uid) or await archive_of(self.store, system)
        stored = await self.archives.write(access, system.status.version, archive)
        await self._ready(system, access, stored)
        self._generated.pop(system.metadata.uid, None)
        log.info("system backup ready", system_backup=system.name, size=stored.size)

    async def _sync(self, system: SystemBackup) -> None:
        """One that somebody found in a store: take over what the store says of it."""
        access = await self._access(system)
        place = ArchivePlace(system.name, system.status.version)
        try:
            stored = await self.archives.look(access, place)
        except NotFound:  # it went while we were told of it
            await self.store.delete(system.ref, uid=system.metadata.uid)
            return
        await self._ready(system.with_status(last_synced_at=self.clock.now()), access, stored)

    async def _ready(self, system: SystemBackup, access: TargetAccess, stored: StoredArchive) -> None:
        status = system.status.no_longer_waiting().replace(
            phase=SystemBackupPhase.READY,
            url=stored.place.url(access.url),
            checksum=stored.checksum,
            encryption=stored.encryption,
            size=stored.size,
            created_at=stored.created_at,
            deadline=None,
            bytes=system.status.bytes.at_end() if system.status.bytes else None,
            completion_timestamp=self.clock.now(),
        )
        await self.store.update_status(system.replace(status=status))

    async def _ask_again(self, system: SystemBackup, error: RetryableError) -> Next:
        """The store is away: say so and come back, but not for ever."""
        now = self.clock.now()
        deadline = system.status.deadline or await self._patience_ends(system)
        if not system.deleting and now >= deadline:
            return await self._end(system, f"{_why_too_late(error)}: {error.message}")
        told = system.status.waiting(_reason(error), error.message, since=now)
        await self.store.update_status(system.replace(status=told))
        return Next.after(_ASK_AGAIN)

    async def _patience_ends(self, system: SystemBackup) -> datetime:
        asked = system.metadata.creation_timestamp or self.clock.now()
        return asked + (await settings_now(self.store)).system_backup_upload_timeout

    async def _end(self, system: SystemBackup, why: str) -> Next:
        status = system.status.no_longer_waiting().replace(
            phase=SystemBackupPhase.ERROR,
            failure_reason=why,
            deadline=None,
            completion_timestamp=self.clock.now(),
        )
        await self.store.update_status(system.replace(status=status))
        self._generated.pop(system.metadata.uid, None)
        log.warning("system backup failed", system_backup=system.name, reason=why)
        return Next.done()

    async def _take_apart(self, system: SystemBackup) -> None:
        """The archive goes first, then the record; Backups that another one relies on are handed over to it."""
        if system.status.phase is not SystemBackupPhase.DELETING:
            system = await self.store.update_status(system.with_status(phase=SystemBackupPhase.DELETING))
        owned = await self._backups(system)
        names = {backup.name for backup in owned}
        heirs = backups_to_hand_over(names, system, await all_of(self.store, SystemBackup))
        for backup in owned:
            if (heir := heirs.get(backup.name)) is not None:
                labels = {**backup.metadata.labels, SYSTEM_BACKUP_LABEL: heir.metadata.uid}
                await self.store.update(backup.with_metadata(labels=labels, owner_references=(heir.as_owner(),)))
        await self._remove_archive(system)
        await let_go(self.store, system, SYSTEM_BACKUP_FINALIZER)
        log.info("system backup deleted", system_backup=system.name)

    async def _remove_archive(self, system: SystemBackup) -> None:
        if not system.archive_version:
            return  # it never wrote any
        try:
            access = await self._access(system)
        except NotFound:
            return  # without its target nobody can reach the store; what is there stays
        # One that did not get as far as Ready may have met the archive of a namesake.
        only_of = None if system.status.url else system.metadata.uid
        await self.archives.remove(access, ArchivePlace(system.name, system.archive_version), only_of=only_of)

    async def _backups(self, system: SystemBackup) -> list[Backup]:
        return await all_of(self.store, Backup, Selector.matching({SYSTEM_BACKUP_LABEL: system.metadata.uid}))

    async def _access(self, system: SystemBackup) -> TargetAccess:
        target = await self.store.get(BackupTarget, system.spec.target)
        return await access_to(target, self.secrets)


def _reason(error: RetryableError) -> Reason:
    return Reason.PENDING_EVALUATION if isinstance(error, CatalogueNotRead) else why_wait(error)


def _why_too_late(error: RetryableError) -> str:
    not_read = isinstance(error, CatalogueNotRead)
    return "not known in time which volumes have a backup" if not_read else "the target did not answer in time"
