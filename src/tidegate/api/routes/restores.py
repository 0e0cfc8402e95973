"""Restores beyond what every kind has: what one would do, and calling one off."""

from fastapi import APIRouter, Depends, Request
from fastapi.responses import JSONResponse

from tidegate.api.admission.checks import as_sent
from tidegate.api.admission.restore_planning import look_ahead
from tidegate.api.problems import refusals
from tidegate.api.reads.presenting import present_one
from tidegate.api.reads.queue_looks import queue_now
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.decide.queue.plan import Waiting
from tidegate.decide.restores.places import volumes_written
from tidegate.decide.restores.plan import PlanSurroundings, plan_restore
from tidegate.decide.restores.queue import plan_restores
from tidegate.decide.stores.target_away import all_away
from tidegate.errors import NotFound, Refused
from tidegate.model.resource import Ref
from tidegate.model.restores.restore import Restore
from tidegate.model.restores.restore_plan import RestorePlan
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import DOWNLOADS, TransferPhase

router = APIRouter(tags=["restores"], dependencies=[Depends(require_token)])


# Not below /restores/: a restore may be called "plan".
@router.post("/restore-plans", response_model_exclude_none=True, responses=refusals(NotFound, Refused))
async def plan(request: Request, restore: Restore) -> RestorePlan:
    """What this restore would do as things are now, conflicts first. Changes nothing."""
    services = services_of(request)
    wanted = as_sent(restore)
    assert isinstance(wanted, Restore)  # noqa: S101  # it was sent as one
    seen = await look_ahead(services, wanted.spec)
    written = volumes_written(seen.placements, seen.volumes)
    settled = wanted.with_status(target_volumes=written).with_metadata(uid="planned")
    targets = (await services.store.list(BackupTarget)).items
    around = PlanSurroundings(
        places=seen.places,
        sizes=seen.source.sizes,
        unavailable_targets=all_away(targets),
        waiting=await _wait(services, settled),
        waiting_volumes=await _waiting_volumes(services),
    )
    return plan_restore(wanted.spec, seen.placements, around, backup=seen.source.backup)


async def _wait(services: Services, restore: Restore) -> Waiting | None:
    """What would keep it from starting if it were asked for now."""
    snapshot, settings = await queue_now(services)
    # Beside the server's own table: what is only planned must not keep anything from anybody.
    table = services.state.restores.with_one_more(restore)
    claims = table.claims(by_volume=settings.overlap_detection == "volume")
    waiting = plan_restores(claims, snapshot.running, paused=settings.concurrent_restores == 0).wait
    # It stands at the end; a namesake that exists already would be refused anyway.
    return next((one for one in reversed(waiting) if one.name == restore.name), None)


async def _waiting_volumes(services: Services) -> int:
    downloads = [download for kind in DOWNLOADS for download in (await services.store.list(kind)).items]
    return sum(download.status.phase is TransferPhase.NEW for download in downloads)


@router.post("/restores/{name}/cancel", status_code=202, responses={202: {"model": Restore}})
async def cancel(request: Request, name: str) -> JSONResponse:
    """Call a restore off, whatever it does; it ends as Canceled, or as what it was if it is done first."""
    services = services_of(request)
    cancelled = await services.store.cancel(Ref("Restore", name))
    return JSONResponse(await present_one(services, cancelled), status_code=202)
