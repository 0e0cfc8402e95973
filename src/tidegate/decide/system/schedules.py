"""Schedules of system backups: judged by the same rules as those of backups."""

from tidegate.model.backups.backup import Backup, BackupPhase, BackupSpec, BackupStatus
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.system.system import SYSTEM_BACKUP_FINALIZER, SystemBackup, SystemBackupPhase, SystemBackupSpec

_AS_RUN = {SystemBackupPhase.READY: BackupPhase.COMPLETED, SystemBackupPhase.ERROR: BackupPhase.FAILED}


def as_run(system: SystemBackup) -> Backup:
    """A run of a schedule, as its rules see it: whether it is over, and whether it went well."""
    phase = _AS_RUN.get(system.status.phase, BackupPhase.IN_PROGRESS)
    return Backup(metadata=system.metadata, status=BackupStatus(phase=phase))


def template_of(schedule: Schedule) -> BackupSpec:
    """What must be possible for a run to be possible: of a system backup, that there is its target."""
    system = schedule.spec.system_backup
    return schedule.spec.template if system is None else BackupSpec(storage_location=system.target)


def system_backup_of(run: Backup, template: SystemBackupSpec) -> SystemBackup:
    """The system backup in place of a backup that the schedule would have made: same name, labels and owners."""
    metadata = run.metadata.replace(finalizers=(SYSTEM_BACKUP_FINALIZER,))
    spec = template.replace(target=run.spec.storage_location, found_version=None)
    return SystemBackup(metadata=metadata, spec=spec)
