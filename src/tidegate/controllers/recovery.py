"""Puts right what the server before this one left under way. Runs once, before the reconcilers start."""

import structlog

from tidegate.controllers.observation import all_of, all_transfers
from tidegate.decide.recovery import after_restart
from tidegate.model.backup import Backup
from tidegate.model.restore import Restore
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)


async def recover(store: ResourceStore, clock: Clock) -> None:
    """Write what `decide.recovery` says. Nobody else writes yet, so no version can be stale."""
    found = [*await all_of(store, Backup), *await all_of(store, Restore), *await all_transfers(store)]
    for changed in after_restart(found, now=clock.now()):
        await store.update_status(changed)
        log.warning("interrupted by the end of the last server", what=str(changed.ref))
