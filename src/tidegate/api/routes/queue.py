"""The queue itself: who waits for what, moving a backup, calling one off."""

import asyncio
from collections.abc import Sequence
from functools import partial
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse
from pydantic import Field

from tidegate.api.admission.changes import changed
from tidegate.api.reads.presenting import Wire, present_one
from tidegate.api.reads.queue_looks import queue_now, seconds_left, surroundings_now
from tidegate.api.reads.queue_page import marker_of, place_of, queue_page
from tidegate.api.security.auth import require_token, services_of
from tidegate.decide.queue.chain import ends_first
from tidegate.decide.queue.forecast import expected_starts, workload_of
from tidegate.decide.queue.order import tickets_after_move
from tidegate.decide.queue.plan import QueueSnapshot, obstacles
from tidegate.decide.queue.workload import recorded_workload
from tidegate.errors import Refused
from tidegate.model.backups.backup import Backup, BackupPhase
from tidegate.model.frozen import Model
from tidegate.model.queue.queue import EndsFirst, Queue, QueueExplanation, QueueObstacle, Workload
from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref

router = APIRouter(tags=["queue"], dependencies=[Depends(require_token)])

_MOST_OBSTACLES = 100
# So many are told in a few milliseconds.
_AT_ONCE = 1000


class Move(Model):
    """Where a queued backup should stand."""

    to: int = Field(ge=1, le=10_000_000, strict=True)
    """1 is the head; more than there are means the end."""


@router.get("/queue", response_model=Queue, response_model_exclude_none=True)
async def list_queue(
    request: Request,
    limit: Annotated[int | None, Query(ge=1, description="At most so many; absent: all that wait.")] = None,
    marker: Annotated[
        str | None, Query(max_length=1024, description="From an earlier part: what is behind it.")
    ] = None,
    skip: Annotated[int, Query(ge=0, le=10_000_000, description="Without a marker: so many are passed over.")] = 0,
) -> Response:
    """The queue in its order, with the reason of each wait and when each will probably start."""
    services = services_of(request)
    table, figures = services.state.queue, services.state.backup_figures
    moving = await seconds_left(services)
    snapshot, settings = await queue_now(services)
    # No waiting from here on: the table may be the server's own, and the parts of an answer must fit.
    first = skip if marker is None else table.ahead((*place_of(marker)[:2], place_of(marker)[2] + "\0"))
    first = min(first, len(snapshot.waiting))
    places = range(first, min(len(snapshot.waiting), first + limit) if limit else len(snapshot.waiting))
    more = marker_of(table.places()[places.stop - 1]) if places and places.stop < len(snapshot.waiting) else None
    entries, now = table.queued()[places.start : places.stop], services.clock.now()

    def told() -> str:
        return queue_page(snapshot, entries, places, figures, settings, moving=moving, now=now, marker=more).to_json()

    if places.stop <= _AT_ONCE:
        return Response(told(), media_type="application/json")
    # Beside the event loop, which others need too; and the queue goes on meanwhile.
    snapshot = snapshot.frozen()
    return Response(await asyncio.to_thread(told), media_type="application/json")


# Not below /queue/: a backup may be called "workload".
@router.get("/queue-workload", response_model_exclude_none=True)
async def get_workload(request: Request) -> Workload:
    """The present queue with expected durations, for `tidegate queue simulate`."""
    services = services_of(request)
    table, figures = services.state.queue, services.state.backup_figures
    around, settings = await surroundings_now(services)
    moving, now = await seconds_left(services), services.clock.now()
    jobs = workload_of(figures, table.snapshot(around), moving, now=now)
    return recorded_workload(jobs, table, around, limit=settings.concurrent_backups, now=now)


@router.get("/queue/{name}", response_model_exclude_none=True)
async def explain(request: Request, name: str) -> QueueExplanation:
    """Every obstacle of one backup, what has to end first, and when it will probably start."""
    services = services_of(request)
    backup = await services.store.get(Backup, name)
    table, figures = services.state.queue, services.state.backup_figures
    moving = await seconds_left(services)
    snapshot, settings = await queue_now(services)
    # No waiting until the snapshot is frozen.
    limit = settings.concurrent_backups
    found = [
        QueueObstacle(reason=one.reason, message=one.message, blocked_by=one.blocked_by, shared=tuple(one.shared))
        for one in obstacles(snapshot, name, limit=limit)
    ]
    position, first, slots = table.position(name), _ends_first(snapshot, name), _slots(snapshot, found)
    now, place = services.clock.now(), position - 1 if position else 0
    snapshot = snapshot.frozen()
    places = range(place, place + 1 if position else 0)
    starts = await asyncio.to_thread(expected_starts, figures, snapshot, moving, places, limit=limit, now=now)
    return QueueExplanation(
        name=name,
        phase=backup.status.phase,
        position=position,
        since=backup.status.queued_at if position else None,
        expected_start=starts.get(place),
        obstacles=tuple(found[:_MOST_OBSTACLES]),
        more_obstacles=max(0, len(found) - _MOST_OBSTACLES),
        ends_first=first,
        or_one_of=slots,
    )


def _ends_first(snapshot: QueueSnapshot, name: str) -> tuple[EndsFirst, ...]:
    return tuple(EndsFirst(**link._asdict()) for link in ends_first(snapshot, name))


def _slots(snapshot: QueueSnapshot, found: Sequence[QueueObstacle]) -> tuple[str, ...]:
    if not any(obstacle.reason is Reason.CONCURRENCY_LIMIT for obstacle in found):
        return ()
    return tuple(runner.name for runner in snapshot.running)[:_MOST_OBSTACLES]


@router.post("/queue/{name}/move", response_model=Backup, response_model_exclude_none=True)
async def move(request: Request, name: str, wanted: Move) -> Wire:
    """Put a queued backup at another place; the others keep their order."""
    services = services_of(request)
    table, settings = services.state.queue, await services.state.settings()
    if table.position(name) is None:
        backup = await services.store.get(Backup, name)
        raise Refused(f"backup {name} {_state(backup)}; only one that waits in the queue can be moved")
    order = [(entry.name, entry.ticket, entry.priority) for entry in table.queued()]
    tickets = tickets_after_move(order, name, wanted.to, head_start_seconds=settings.priority_head_start_seconds)
    # The moved one last: whoever is interrupted in between has changed no order yet.
    for one in sorted(tickets, key=lambda one: one == name):
        await changed(services.store, Backup, one, partial(_with_ticket, tickets[one]))
    moved = await services.store.get(Backup, name)
    return moved.with_status(queue_position=table.position(name), queue_ticket=moved.ticket).to_wire()


def _with_ticket(ticket: int, backup: Backup) -> Backup:
    """One that has left the queue meanwhile needs no place."""
    return backup.with_spec(queue_ticket=ticket) if backup.status.phase is BackupPhase.QUEUED else backup


@router.post("/backups/{name}/cancel", status_code=202, responses={202: {"model": Backup}})
async def cancel(request: Request, name: str) -> JSONResponse:
    """Call a backup off, whatever it does; it ends as Canceled, or as what it was if it is done first."""
    services = services_of(request)
    cancelled = await services.store.cancel(Ref("Backup", name))
    return JSONResponse(await present_one(services, cancelled), status_code=202)


def _state(backup: Backup) -> str:
    if backup.deleting:
        return "is being deleted"
    return "is being cancelled" if backup.spec.cancel and not backup.status.phase.final else f"is {backup.status.phase}"
