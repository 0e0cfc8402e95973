"""Resources as the API shows them: stored form plus what is derived."""

from collections.abc import Sequence

from tidegate.api.admission.matching import with_unmatched
from tidegate.api.reads.held_up import with_reasons_now
from tidegate.api.reads.jobs import with_bytes_now
from tidegate.api.reads.load import with_load
from tidegate.api.reads.protection import with_protection, with_protection_inside
from tidegate.api.reads.queue_places import is_queued, placed_backups, placed_restores
from tidegate.api.reads.system import has_volumes_on_the_way, with_volumes_now
from tidegate.api.reads.transfers import explained, waits_for_gate, waits_now
from tidegate.api.services import Services
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.node import Node
from tidegate.model.volumes.volume import Namespace, Volume

Wire = dict[str, object]


async def present(services: Services, resources: Sequence[Resource]) -> list[Wire]:
    """Wire forms, all of one kind."""
    return [resource.to_wire() for resource in await _as_they_are(services, resources)]


async def present_one(services: Services, resource: Resource) -> Wire:
    """The same for one."""
    (shown,) = await present(services, [await with_unmatched(services, resource)])
    return shown


async def present_news(services: Services, resource: Resource) -> Resource:
    """For a stream of changes: the position as it is now, the reason as it was written. Cheap, for there are many."""
    if isinstance(resource, (Namespace, Node, Volume)):  # these change rarely
        return (await _as_they_are(services, [resource]))[0]
    if not isinstance(resource, Backup) or not is_queued(resource):
        return resource
    position = services.state.queue.position(resource.name)
    return resource.with_status(queue_position=position)


async def _as_they_are(services: Services, resources: Sequence[Resource]) -> Sequence[Resource]:
    if backups := [one for one in resources if isinstance(one, Backup)]:
        resources = await placed_backups(services, backups)
    if restores := [one for one in resources if isinstance(one, Restore)]:
        resources = placed_restores(services, restores)
    if any(isinstance(resource, Node) for resource in resources):
        resources = await with_load(services, resources)
    if any(isinstance(resource, Volume) for resource in resources):
        resources = await with_protection(services, resources)
    if resources and isinstance(resources[0], Namespace):  # a list is of one kind
        return await with_protection_inside(services, resources)
    if any(map(waits_for_gate, resources)):
        waits = await waits_now(services)
        return [explained(resource, waits) for resource in resources]
    if any(map(has_volumes_on_the_way, resources)):
        return [await with_volumes_now(services, resource) for resource in resources]
    resources = await with_reasons_now(services, resources)
    return [await with_bytes_now(services, one) for one in resources]
