"""`/v1/backuptargets`: our own shape and Longhorn's flat fields in one answer, and bodies of either kind.

No field of one shape has the name of a field of the other. So each client finds what it knows, and what it reads it may
send back.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from tidegate.api.admission.store_adoption import adopt_store
from tidegate.api.admission.sync_requests import sync_forecast, sync_target, sync_volume
from tidegate.api.collections import PageParameter, PageWish, page_of
from tidegate.api.longhorn.actions import action_in
from tidegate.api.longhorn.bodies import speaks_longhorn
from tidegate.api.longhorn.manners import (
    ANY_OBJECT,
    answer,
    base_url,
    body_of,
    read_body,
    read_object,
    shown_beside,
    text_of,
)
from tidegate.api.longhorn.shapes import TARGET_ACTIONS, Wire, target_shape
from tidegate.api.longhorn.targets import changed_target, new_target, own_target
from tidegate.api.parameters import DRY_RUN, DryRun, Place
from tidegate.api.problems import refusals
from tidegate.api.routes.resources import create_resource, replace_resource
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.security.trail import caller_of, name_made
from tidegate.api.services import Services
from tidegate.errors import AlreadyExists, NotFound
from tidegate.format.cfgs.backup_url import same_store
from tidegate.model.setting import Setting, effective_settings
from tidegate.model.stores.target import BackupTarget

router = APIRouter(tags=["backuptargets"], dependencies=[Depends(require_token)])

Action = Annotated[str | None, Query(description="One of those that the answer lists.", max_length=64)]
_BODY = body_of(BackupTarget)
_SHOWN: dict[str, Any] = {"responses": {200: shown_beside(BackupTarget)}}


@router.get("/backuptargets", summary="list BackupTarget", operation_id="listBackupTarget")
async def read_targets(
    request: Request,
    wish: PageParameter,
) -> Response:
    """All targets."""
    services = services_of(request)
    page = await page_of(request, BackupTarget, wish, shapes=lambda page: _shapes(request, services, *page.items))
    return answer(request, page)


@router.get("/backuptargets/{name}", summary="get BackupTarget", operation_id="getBackupTarget", **_SHOWN)
async def read_target(request: Request, name: str, action: Action = None) -> Response:
    """One target."""
    action_in(request, action, known=TARGET_ACTIONS, allowed=())
    services = services_of(request)
    return await _shown(request, services, await services.store.get(BackupTarget, name))


@router.post(
    "/backuptargets",
    status_code=201,
    summary="create BackupTarget",
    operation_id="createBackupTarget",
    responses={200: shown_beside(BackupTarget, DRY_RUN), 201: shown_beside(BackupTarget)},
    openapi_extra=_BODY,
)
async def create_target(request: Request, dry_run: DryRun = False) -> Response:
    """Name a store."""
    services = services_of(request)
    sent = await read_object(request)
    if not speaks_longhorn(sent):
        own = own_target(sent)
        name_made(request, own)
        made = await create_resource(services, own, dry_run=dry_run, asked_by=caller_of(request).title)
        return await _shown(request, services, made, status=200 if dry_run else 201)
    wanted = new_target(sent)
    name_made(request, wanted)
    try:
        stored = await services.store.get(BackupTarget, wanted.name)
    except NotFound:
        stored = await create_resource(services, wanted, dry_run=dry_run, asked_by=caller_of(request).title)
    # Longhorn answers with the one that is there; but nobody shall believe that it is another store.
    if not same_store(stored.spec.url, wanted.spec.url):
        raise AlreadyExists(f"target {wanted.name} already names another store", hint="choose another name")
    return await _shown(request, services, stored)


@router.put("/backuptargets", summary="sync all BackupTargets", responses=refusals(NotFound), openapi_extra=ANY_OBJECT)
async def sync_all(request: Request) -> Response:
    """Bring the catalogue up to date, if the body says `{"syncAllBackupTargets": true}`."""
    services = services_of(request)
    if (await read_body(request)).get("syncallbackuptargets") is True:
        for target in (await services.store.list(BackupTarget)).items:
            await sync_target(services, target.name)
    return await read_targets(request, PageWish())


@router.put(
    "/backuptargets/{name}",
    summary="replace BackupTarget",
    operation_id="replaceBackupTarget",
    openapi_extra=_BODY,
    **_SHOWN,
)
async def replace_target(request: Request, name: str, dry_run: DryRun = False) -> Response:
    """Change a target; Longhorn's flat fields change only what they name."""
    services = services_of(request)
    sent = await read_object(request)
    if speaks_longhorn(sent):
        wanted = changed_target(await services.store.get(BackupTarget, name), sent)
    else:
        wanted = own_target(sent)
    changed = await replace_resource(services, wanted, Place(name), dry_run=dry_run)
    return await _shown(request, services, changed)


@router.post("/backuptargets/{name}", summary="act on a BackupTarget", openapi_extra=ANY_OBJECT)
async def act(request: Request, name: str, action: Action = None) -> Response:
    """`backupTargetSync`, of a volume only if the body names one; `backupTargetUpdate`; `backupTargetAdopt`."""
    services = services_of(request)
    asked = action_in(request, action, known=TARGET_ACTIONS, allowed=TARGET_ACTIONS, needed=True)
    body = await read_body(request)
    target = await services.store.get(BackupTarget, name)
    if asked == "backupTargetUpdate":
        changed = await replace_resource(services, changed_target(target, body), Place(name), dry_run=False)
        return await _shown(request, services, changed)
    if asked == "backupTargetAdopt":
        return await _shown(request, services, await adopt_store(services, name, mark=text_of(body, "mark")))
    volume, confirm = text_of(body, "volume"), text_of(body, "confirmVanished")
    if body.get("syncbackuptarget") is False:
        return await _shown(request, services, target)
    if volume:
        return answer(request, (await sync_volume(services, name, volume)).to_wire())
    asked_for = await sync_target(services, name, confirm=confirm)
    when = {"syncForecast": (await sync_forecast(services, asked_for)).to_wire()} if services.syncs else {}
    return answer(request, {**(await _shapes(request, services, asked_for))[0], **when})


async def _shown(request: Request, services: Services, target: BackupTarget, *, status: int = 200) -> Response:
    shown = answer(request, (await _shapes(request, services, target))[0])
    shown.status_code = status
    return shown


async def _shapes(request: Request, services: Services, *targets: BackupTarget) -> list[Wire]:
    settings = effective_settings(list((await services.store.list(Setting)).items))
    base = base_url(request)

    def shape(target: BackupTarget) -> Wire:
        own = target.spec.poll_interval
        interval = own if own is not None else settings.poll_interval
        return {**target.to_wire(), **target_shape(target, base=base, poll_interval=interval)}

    return [shape(target) for target in targets]
