"""Which backup a request for a restore or a verification is about."""

from tidegate.api.services import Services
from tidegate.decide.volumes.selection import newest_good_backup
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.transfers.transfer import BACKUP_LABEL, UPLOADS, Transfer


async def chosen_backup(services: Services, name: str | None, *, schedule: str | None) -> Backup:
    """Return the backup of this name, or the newest good one of the schedule; raise NotFound if there is none."""
    if schedule is None:
        return await services.store.get(Backup, name or "")
    selector = Selector.matching({SCHEDULE_LABEL: schedule})
    backups = (await services.store.list(Backup, selector=selector)).items
    if not backups:  # backups outlive their schedule; where there are none, a mistyped name is refused as such
        await services.store.get(Schedule, schedule)
    return newest_good_backup(schedule, backups)


async def uploads_of(services: Services, backup: Backup) -> list[Transfer]:
    """All uploads of a backup, whatever became of them."""
    selector = Selector.matching({BACKUP_LABEL: backup.metadata.uid})
    return [upload for kind in UPLOADS for upload in (await services.store.list(kind, selector=selector)).items]
