"""Which backup a restore or a verification is about."""

from tidegate.controllers.reconcile.observation import all_of
from tidegate.decide.volumes.selection import newest_good_backup
from tidegate.errors import NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.ports.resource_store import ResourceStore


async def chosen_backup(store: ResourceStore, name: str | None, *, schedule: str | None) -> Backup:
    """Return the backup of this name, or without a name the newest good one of the schedule; raise NotFound."""
    if name is None:
        schedule = schedule or ""
        of_schedule = await all_of(store, Backup, Selector.matching({SCHEDULE_LABEL: schedule}))
        return newest_good_backup(schedule, of_schedule)
    try:
        return await store.get(Backup, name)
    except NotFound:
        raise NotFound(f"there is no backup {name}") from None
