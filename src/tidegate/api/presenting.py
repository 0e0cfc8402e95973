"""Resources as the API shows them: stored form plus what is derived."""

from collections.abc import Sequence

from tidegate.decide.backup_queue import queue_positions
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import ResourceStore

Wire = dict[str, object]


async def present(store: ResourceStore, resources: Sequence[Resource]) -> list[Wire]:
    """Wire forms. Queue positions are derived here, not stored: storing them costs a write per place and dequeue."""
    queued = any(isinstance(r, Backup) and r.status.phase is BackupPhase.QUEUED for r in resources)
    positions = queue_positions((await store.list(Backup)).items) if queued else {}
    return [_with_position(resource, positions).to_wire() for resource in resources]


async def present_one(store: ResourceStore, resource: Resource) -> Wire:
    """The same for one."""
    return (await present(store, [resource]))[0]


def _with_position(resource: Resource, positions: dict[str, int]) -> Resource:
    if isinstance(resource, Backup) and resource.name in positions:
        return resource.with_status(queue_position=positions[resource.name])
    return resource
