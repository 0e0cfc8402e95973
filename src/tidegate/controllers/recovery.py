"""Puts right what the server before this one left under way. Runs once, before the reconcilers start."""

import structlog

from tidegate.controllers.observation import all_of, all_transfers
from tidegate.decide.backup_events import with_events
from tidegate.decide.recovery import after_restart
from tidegate.model.backup import Backup
from tidegate.model.restore import Restore
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)


async def recover(store: ResourceStore, clock: Clock) -> None:
    """Write what `decide.recovery` says. Nobody else writes yet, so no version can be stale."""
    found = [*await all_of(store, Backup), *await all_of(store, Restore), *await all_transfers(store)]
    before = {resource.metadata.uid: resource for resource in found if isinstance(resource, Backup)}
    now = clock.now()
    for changed in after_restart(found, now=now):
        told = with_events(before[changed.metadata.uid], changed, now=now) if isinstance(changed, Backup) else changed
        await store.update_status(told)
        log.warning("interrupted by the end of the last server", what=str(changed.ref))
