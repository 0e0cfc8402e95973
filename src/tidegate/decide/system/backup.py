"""What a system backup does about each volume, and what it does next: every answer with its reason."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from tidegate.decide.volumes.last_backup import LastBackup, full_name, stored_by
from tidegate.model.backups.backup import BACKUP_FINALIZER, Backup, BackupPhase, BackupSpec, OnInterruption
from tidegate.model.duration import format_duration
from tidegate.model.resource import Metadata
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import (
    SYSTEM_BACKUP_FINALIZER,
    SYSTEM_BACKUP_LABEL,
    SystemBackup,
    SystemBackupSpec,
    SystemBackupVolume,
    VolumeBackupPolicy,
    VolumeDecision,
    VolumeOutcome,
)
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, BACKUP_LABEL, Transfer, TransferPhase
from tidegate.model.volumes.volume import Volume

# The archive names them: they stay as long as it does, and go with it.
_AS_LONG_AS_THE_ARCHIVE = timedelta(days=36_500)
_MOST_NAMED = 5


def decide_volumes(
    system: SystemBackup, volumes: Iterable[Volume], last: Mapping[str, LastBackup], changed: Collection[str]
) -> tuple[SystemBackupVolume, ...]:
    """One row for each volume, in the order of their names. `changed` matters to the policy `if-changed` only."""
    ordered = sorted(volumes, key=lambda volume: (volume.namespace, volume.name))
    return tuple(_row(system, volume, last.get(full_name(volume)), changed) for volume in ordered)


def _row(system: SystemBackup, volume: Volume, last: LastBackup | None, changed: Collection[str]) -> SystemBackupVolume:
    name = full_name(volume)
    if volume.deleting:
        return SystemBackupVolume(volume=name, decision=VolumeDecision.SKIPPED, reason="it is being deleted")
    policy = system.spec.volume_backup_policy
    if (why := _why_to_back_up(policy, last, is_changed=name in changed)) is not None:
        return SystemBackupVolume(
            volume=name,
            decision=VolumeDecision.CREATED,
            reason=why,
            backup=backup_name(system, name),
            state=VolumeOutcome.WAITING,
        )
    if last is None:
        reason = "the policy is disabled and it has no backup: it would come back without data"
        return SystemBackupVolume(volume=name, decision=VolumeDecision.SKIPPED, reason=reason)
    return SystemBackupVolume(
        volume=name,
        decision=VolumeDecision.REUSED,
        reason=_REUSED[policy],
        backup=last.backup,
        state=VolumeOutcome.COMPLETED,
        stored=last.stored,
    )


_REUSED = {
    VolumeBackupPolicy.IF_NOT_PRESENT: "it has a backup",
    VolumeBackupPolicy.IF_CHANGED: "it has not changed since its last backup",
    VolumeBackupPolicy.DISABLED: "the policy is disabled; its last backup is named",
}


def _why_to_back_up(policy: VolumeBackupPolicy, last: LastBackup | None, *, is_changed: bool) -> str | None:
    if policy is VolumeBackupPolicy.DISABLED:
        return None
    if policy is VolumeBackupPolicy.ALWAYS:
        return "the policy is always"
    if last is None:
        return "it has no backup"
    return "it has changed since its last backup" if policy is VolumeBackupPolicy.IF_CHANGED and is_changed else None


def backup_name(system: SystemBackup, volume: str) -> str:
    """Always the same for the same system backup and volume, so that making it twice is harmless."""
    identity = f"{system.metadata.uid}/{volume}"
    return f"{system.name[:200]}-{sha256(identity.encode()).hexdigest()[:10]}"


def backups_to_make(system: SystemBackup) -> list[Backup]:
    """One for each volume to back up: what is done stays done, whatever happens to the others or to the server.

    One that a restart interrupts is queued again, because the system backup goes on too.
    """
    rows = [row for row in system.status.volumes if row.decision is VolumeDecision.CREATED]
    return [_backup(system, row.backup, row.volume) for row in rows if row.backup is not None]


def _backup(system: SystemBackup, name: str, volume: str) -> Backup:
    return Backup(
        metadata=Metadata(
            name=name,
            labels={SYSTEM_BACKUP_LABEL: system.metadata.uid},
            finalizers=(BACKUP_FINALIZER,),
            owner_references=(system.as_owner(),),
        ),
        spec=BackupSpec(
            included_namespaces=(volume.partition("/")[0],),
            included_volumes=(volume,),
            storage_location=system.spec.target,
            ttl=_AS_LONG_AS_THE_ARCHIVE,
            on_interruption=OnInterruption.REQUEUE,
        ),
    )


@dataclass(frozen=True)
class VolumesVerdict:
    """Whether the volume backups are over: `deadline` is until when is waited, None once nothing is waited for."""

    deadline: datetime | None
    overdue: tuple[str, ...] = ()
    """Names of the Backups that did not end in time."""


def judge_backups(
    system: SystemBackup, backups: Mapping[str, Backup], *, now: datetime, limit: timedelta
) -> VolumesVerdict:
    """One that is gone, or going, is waited for no longer: it can only have failed.

    Each may take `limit` from its own start. The queue starts them one after the other, in one namespace always: so
    those that wait have as long, from when the last one ended, and as long as one runs it is not their time.
    """
    wanted = {row.backup for row in system.status.volumes if row.decision is VolumeDecision.CREATED and row.backup}
    under_way = sorted(name for name in wanted if name in backups and not _over(backups[name]))
    if not under_way:
        return VolumesVerdict(None)
    deadline = _turn_began(system, [backups[name] for name in sorted(wanted & backups.keys())], now) + limit
    return VolumesVerdict(deadline) if now < deadline else VolumesVerdict(None, tuple(under_way))


def _turn_began(system: SystemBackup, backups: Iterable[Backup], now: datetime) -> datetime:
    """The moment from which the time of those counts whose turn it is: that of the one that has run longest."""
    known = list(backups)
    running = [one.status.start_timestamp for one in known if not _over(one) and one.status.start_timestamp]
    if running:
        return min(running)
    ended = [one.status.completion_timestamp for one in known if one.status.completion_timestamp]
    return max([system.status.volumes_requested_at or now, *ended])


def _over(backup: Backup) -> bool:
    return backup.status.phase.final or backup.deleting or backup.status.phase is BackupPhase.DELETING


def uploads_by_volume(backups: Iterable[Backup], uploads: Iterable[Transfer]) -> dict[tuple[str, str], Transfer]:
    """By the uid of the Backup and NAMESPACE/NAME; those that an interruption ended do not count any more."""
    attempts = {backup.metadata.uid: str(backup.status.attempt) for backup in backups}
    found = {}
    for upload in uploads:
        uid = upload.metadata.labels.get(BACKUP_LABEL, "")
        if uid in attempts and upload.metadata.labels.get(ATTEMPT_LABEL, "0") == attempts[uid]:
            found[uid, f"{upload.spec.volume_namespace}/{upload.spec.volume_name}"] = upload
    return found


def volumes_as_they_are(
    rows: Iterable[SystemBackupVolume],
    backups: Mapping[str, Backup],
    uploads: Mapping[tuple[str, str], Transfer],
    *,
    overdue: Collection[str] = (),
    requested: bool = True,
) -> tuple[SystemBackupVolume, ...]:
    """The rows with how each volume stands. `uploads` are by the uid of the Backup and NAMESPACE/NAME."""
    return tuple(
        _as_it_is(row, backups.get(row.backup or ""), uploads, late=row.backup in overdue, requested=requested)
        if row.decision is VolumeDecision.CREATED
        else row
        for row in rows
    )


def _as_it_is(
    row: SystemBackupVolume,
    backup: Backup | None,
    uploads: Mapping[tuple[str, str], Transfer],
    *,
    late: bool,
    requested: bool,
) -> SystemBackupVolume:
    if backup is None and not requested:
        return row
    upload = uploads.get((backup.metadata.uid, row.volume)) if backup is not None else None
    if upload is not None and upload.status.phase is TransferPhase.COMPLETED and not upload.deleting:
        return row.replace(state=VolumeOutcome.COMPLETED, stored=stored_by(upload), message="")
    why = _why_failed(row, backup, upload, late=late)
    if backup is None or why is not None:
        return row.replace(state=VolumeOutcome.FAILED, message=why or "")
    if upload is not None and upload.status.phase.moving:
        return row.replace(state=VolumeOutcome.IN_PROGRESS, message="")
    waiting = (upload or backup).status.condition("Waiting")
    message = f"{waiting.reason}: {waiting.message}" if waiting else f"backup {backup.name} is {backup.status.phase}"
    return row.replace(state=VolumeOutcome.WAITING, message=message)


def _why_failed(row: SystemBackupVolume, backup: Backup | None, upload: Transfer | None, *, late: bool) -> str | None:
    """Why nothing can come of it any more, if so."""
    if backup is None or backup.deleting:
        return f"backup {row.backup} was deleted before it was done"
    if upload is not None and upload.status.phase.final:
        return upload.status.message or f"its upload is {upload.status.phase}"
    if late:
        return f"backup {backup.name} was still {backup.status.phase} when the time was over"
    return _why_without_upload(row, backup) if backup.status.phase.final else None


def _why_without_upload(row: SystemBackupVolume, backup: Backup) -> str:
    # It existed when it was decided about: a Backup that finds nothing came after its end.
    if row.volume in backup.status.gone_volumes or backup.status.unmatched:
        return "the volume was deleted before its turn came"
    why = backup.status.failure_reason or "; ".join(backup.status.validation_errors)
    if not why and backup.status.phase is BackupPhase.COMPLETED:
        return f"what backup {backup.name} uploaded of it was deleted"
    return f"backup {backup.name} ended as {backup.status.phase}{f': {why}' if why else ''}"


def failure_of(rows: Iterable[SystemBackupVolume], *, limit: timedelta | None = None) -> str | None:
    """The sentence that names the volumes that failed, if any did; with `limit` it says that the time was over."""
    failed = [row for row in rows if row.state is VolumeOutcome.FAILED]
    if not failed:
        return None
    named = "; ".join(f"volume {row.volume}: {row.message}" for row in failed[:_MOST_NAMED])
    more = f"; and {len(failed) - _MOST_NAMED} more volumes" if len(failed) > _MOST_NAMED else ""
    late = f"not all volumes were backed up within {format_duration(limit)}: " if limit is not None else ""
    return f"{late}{named}{more}"


def backups_to_hand_over(
    owned: Collection[str], system: SystemBackup, others: Iterable[SystemBackup]
) -> dict[str, SystemBackup]:
    """Backups that this one owns and another system backup relies on, with who is to own them from now on.

    Without this, deleting the first of a row of system backups would take the data from all that reused it.
    """
    heirs: dict[str, SystemBackup] = {}
    for other in sorted(others, key=lambda one: one.name):
        if other.metadata.uid == system.metadata.uid or other.deleting:
            continue
        for row in other.status.volumes:
            if row.backup is not None and row.backup in owned:
                heirs.setdefault(row.backup, other)
    return heirs


def found_system_backups(
    target: BackupTarget, versions: Mapping[str, str], known: Iterable[SystemBackup]
) -> list[SystemBackup]:
    """Records for those, by name and version, that a store holds and nobody here knows."""
    names = {system.name for system in known}
    return [
        SystemBackup(
            metadata=Metadata(name=name, finalizers=(SYSTEM_BACKUP_FINALIZER,)),
            spec=SystemBackupSpec(target=target.name, found_version=version),
        )
        for name, version in sorted(versions.items())
        if name not in names
    ]
