"""Resources as the API shows them: stored form plus what is derived."""

from collections.abc import Sequence

from tidegate.api.held_up_looks import with_reasons_now
from tidegate.api.job_looks import with_bytes_now
from tidegate.api.load_looks import with_load
from tidegate.api.queue_looks import queue_now, queue_table, restore_table
from tidegate.api.services import Services
from tidegate.api.system_looks import has_volumes_on_the_way, with_volumes_now
from tidegate.api.transfer_looks import explained, waits_for_gate, waits_now
from tidegate.decide.queue_standing import Standing, standings
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.node import Node
from tidegate.model.resource import Resource
from tidegate.model.restore import Restore, RestorePhase

Wire = dict[str, object]


async def present(services: Services, resources: Sequence[Resource]) -> list[Wire]:
    """Wire forms, all of one kind. Positions and reasons are derived here: storing all would cost a write per place."""
    if any(isinstance(resource, Node) for resource in resources):
        resources = await with_load(services, resources)
    if any(map(waits_for_gate, resources)):
        waits = await waits_now(services)
        return [explained(resource, waits).to_wire() for resource in resources]
    if any(map(has_volumes_on_the_way, resources)):
        return [(await with_volumes_now(services, resource)).to_wire() for resource in resources]
    resources = [await with_bytes_now(services, one) for one in await with_reasons_now(services, resources)]
    if any(map(_is_waiting_restore, resources)):
        return await _with_restore_places(services, resources)
    if not any(map(_is_queued, resources)):
        return [resource.to_wire() for resource in resources]
    table = await queue_table(services)
    snapshot, settings = await queue_now(services, table)
    names = [resource.name for resource in resources if _is_queued(resource)]
    found = standings(table, snapshot, names, limit=settings.concurrent_backups, now=services.clock.now())
    return [_explained(resource, found.get(resource.name)).to_wire() for resource in resources]


async def present_one(services: Services, resource: Resource) -> Wire:
    """The same for one."""
    return (await present(services, [resource]))[0]


async def present_news(services: Services, resource: Resource) -> Wire:
    """For a stream of changes: the position as it is now, the reason as it was written. Cheap, for there are many."""
    if isinstance(resource, Node):  # these change rarely
        return await present_one(services, resource)
    if not _is_queued(resource):
        return resource.to_wire()
    position = (await queue_table(services)).position(resource.name)
    return resource.with_status(queue_position=position).to_wire()


def _is_waiting_restore(resource: Resource) -> bool:
    return isinstance(resource, Restore) and resource.status.phase is RestorePhase.NEW and resource.settled


async def _with_restore_places(services: Services, resources: Sequence[Resource]) -> list[Wire]:
    """A list is of one kind, so there are no backups among these."""
    claims = (await restore_table(services)).claims(by_volume=False)
    waiting = [claim.name for claim in claims if not claim.running]
    places = {name: place for place, name in enumerate(waiting, start=1)}
    return [
        (
            resource.with_status(queue_position=places.get(resource.name))
            if _is_waiting_restore(resource)
            else resource
        ).to_wire()
        for resource in resources
    ]


def _is_queued(resource: Resource) -> bool:
    return isinstance(resource, Backup) and resource.status.phase is BackupPhase.QUEUED


def _explained(resource: Resource, found: Standing | None) -> Resource:
    if not isinstance(resource, Backup) or not _is_queued(resource):
        return resource
    # Who may start has a position too, until the queue has written that it does.
    status, obstacle = resource.status, found.obstacle if found else None
    said = status.condition("Waiting")
    if (
        obstacle
        and status.queued_at
        and (said is None or (said.reason, said.message) != (obstacle.reason, obstacle.message))
    ):
        status = status.waiting(obstacle.reason, obstacle.message, since=status.queued_at)
    return resource.replace(status=status.replace(queue_position=found.position if found else None))
