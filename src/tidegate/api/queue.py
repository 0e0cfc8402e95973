"""The queue itself: who waits for what, moving a backup, calling one off."""

import asyncio

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse
from pydantic import Field

from tidegate.api.auth import require_token, services_of
from tidegate.api.presenting import Wire, present_one
from tidegate.api.queue_looks import queue_now, queue_table
from tidegate.decide.backup_queue import obstacles, plan_admissions
from tidegate.decide.queue_forecast import expected_starts, workload_of
from tidegate.decide.queue_order import tickets_after_move
from tidegate.errors import Refused
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.frozen import Model

router = APIRouter(tags=["queue"], dependencies=[Depends(require_token)])


class Move(Model):
    """Where a queued backup should stand."""

    to: int = Field(ge=1)
    """1 is the head; more than there are means the end."""


@router.get("/queue")
async def list_queue(request: Request) -> Wire:
    """The queue in its order, with the reason of each wait and when each will probably start."""
    services = services_of(request)
    backups = (await services.store.list(Backup)).items
    table = await queue_table(services)
    snapshot, settings = await queue_now(services, table)
    plan = plan_admissions(snapshot, limit=settings.concurrent_backups)
    now = services.clock.now()
    workload = workload_of(backups, snapshot, now=now)
    starts = await asyncio.to_thread(expected_starts, workload, snapshot, settings, now)
    by_name = {backup.name: backup for backup in backups}
    return {
        "limit": settings.concurrent_backups,
        "paused": settings.queue_paused,
        "running": [runner.name for runner in snapshot.running],
        "waiting": [
            {
                "name": waiting.name,
                "position": waiting.position,
                "priority": by_name[waiting.name].spec.priority,
                "reason": waiting.reason,
                "message": waiting.message,
                "blockedBy": waiting.blocked_by,
                "since": _text(by_name[waiting.name].status.queued_at),
                "expectedStart": _text(starts.get(waiting.name)),
            }
            for waiting in plan.wait
            if waiting.name in by_name
        ],
    }


@router.get("/queue/{name}")
async def explain(request: Request, name: str) -> Wire:
    """Every obstacle of one backup, what has to end first, and when it will probably start."""
    services = services_of(request)
    backup = await services.store.get(Backup, name)
    table = await queue_table(services)
    snapshot, settings = await queue_now(services, table)
    found = obstacles(snapshot, name, limit=settings.concurrent_backups)
    now = services.clock.now()
    workload = workload_of((await services.store.list(Backup)).items, snapshot, now=now)
    starts = await asyncio.to_thread(expected_starts, workload, snapshot, settings, now)
    return {
        "name": name,
        "phase": backup.status.phase,
        "position": table.position(name),
        "since": _text(backup.status.queued_at),
        "expectedStart": _text(starts.get(name)),
        "obstacles": [
            {"reason": one.reason, "message": one.message, "blockedBy": one.blocked_by, "shared": one.shared}
            for one in found
        ],
    }


@router.post("/queue/{name}/move")
async def move(request: Request, name: str, wanted: Move) -> Wire:
    """Put a queued backup at another place; the others keep their order."""
    services = services_of(request)
    backup = await services.store.get(Backup, name)
    table = await queue_table(services)
    _, settings = await queue_now(services, table)
    order = [(entry.name, entry.ticket, entry.priority) for entry in table.queued()]
    if backup.status.phase is not BackupPhase.QUEUED or name not in {entry[0] for entry in order}:
        raise Refused(f"backup {name} is {backup.status.phase}; only a queued one can be moved")
    changed = tickets_after_move(order, name, wanted.to, head_start_seconds=settings.priority_head_start_seconds)
    # The moved one last: whoever is interrupted in between has changed no order yet.
    for one in sorted(changed, key=lambda one: one == name):
        stored = await services.store.get(Backup, one)
        if stored.status.phase is BackupPhase.QUEUED:
            await services.store.update_status(stored.with_status(queue_ticket=changed[one]))
    return await present_one(services, await services.store.get(Backup, name))


@router.post("/backups/{name}/cancel", status_code=202)
async def cancel(request: Request, name: str) -> JSONResponse:
    """Call a backup off, whatever it does; it ends as Canceled, or as what it was if it is done first."""
    services = services_of(request)
    backup = await services.store.get(Backup, name)
    phase = backup.status.phase
    if phase.final or backup.deleting:
        raise Refused(f"backup {name} is {phase}: there is nothing to cancel")
    if not backup.spec.cancel:
        backup = await services.store.update(backup.with_spec(cancel=True))
    return JSONResponse(await present_one(services, backup), status_code=202)


def _text(moment: object) -> str | None:
    return None if moment is None else str(moment.isoformat())  # type: ignore[attr-defined]
