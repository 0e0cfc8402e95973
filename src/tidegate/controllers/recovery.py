"""Puts right what the server before this one left under way. Runs once, before the reconcilers start."""

import structlog

from tidegate.controllers.reconcile.observation import all_of, all_transfers
from tidegate.decide.jobs.events import with_events
from tidegate.decide.resources.recovery import after_restart
from tidegate.model.backups.backup import Backup
from tidegate.model.restores.restore import Restore
from tidegate.model.verification.verification import Verification
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)


async def recover(store: ResourceStore, clock: Clock) -> None:
    """Write what `decide.recovery` says. Nobody else writes yet, so no version can be stale."""
    requests = [*await all_of(store, Backup), *await all_of(store, Restore), *await all_of(store, Verification)]
    found = [*requests, *await all_transfers(store)]
    before = {resource.metadata.uid: resource for resource in found}
    now = clock.now()
    for changed in after_restart(found, now=now):
        was = before[changed.metadata.uid]
        if isinstance(changed, Backup) and isinstance(was, Backup):
            await store.update_status(with_events(was, changed, now=now))
        elif changed.metadata.labels == was.metadata.labels:
            await store.update_status(changed)
        else:
            # The attempt is counted first: one that ends the server each time would else be tried for ever.
            counted = await store.update(
                was.with_metadata(labels=changed.metadata.labels, annotations=changed.metadata.annotations)
            )
            await store.update_status(changed.with_metadata(resource_version=counted.metadata.resource_version))
        log.warning("interrupted by the end of the last server", what=str(changed.ref))
