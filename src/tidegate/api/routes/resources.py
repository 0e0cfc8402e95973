"""The same routes for every kind: list, get, create, replace, delete."""

from typing import Any, TypeVar

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import JSONResponse

from tidegate.api.admission.checks import ADMISSIONS, as_sent, exists
from tidegate.api.admission.departure import DEPARTURES
from tidegate.api.admission.matching import with_unmatched
from tidegate.api.collections import PageParameter, page_of
from tidegate.api.parameters import DryRun, Place, dry_run_answer, path_of, place
from tidegate.api.problems import refusals
from tidegate.api.reads.presenting import Wire, present, present_one
from tidegate.api.reads.queue_preview import preview
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.security.trail import caller_of, name_made, requested_by
from tidegate.api.services import Services
from tidegate.decide.access.roles import schedule_refusal
from tidegate.errors import AlreadyExists, Forbidden, InvalidInput, NotFound
from tidegate.model.access.access import Caller
from tidegate.model.backups.backup import Backup
from tidegate.model.kinds import kind_name
from tidegate.model.notifications.notification import Notification, NotificationDelivery
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore
from tidegate.model.transfers.node import Node
from tidegate.model.transfers.transfer import TRANSFERS
from tidegate.model.verification.verification import Verification
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.ports.resource_store import Page

R = TypeVar("R", bound=Resource)

# What clients may write; the others are made by the system and can only be read.
# Targets and system backups are shown to clients of two kinds at once: `backuptargets.py`, `systems.py`.
_WRITABLE: tuple[type[Resource], ...] = (
    Namespace,
    Volume,
    Backup,
    Restore,
    Schedule,
    Verification,
    Notification,
)
# What somebody asks for to be done: these tell by whom.
_JOBS: frozenset[type[Resource]] = frozenset({Backup, Restore, SystemBackup, SystemRestore, Verification})
# These name others, which may not be there.
_REFERRING: frozenset[type[Resource]] = frozenset({Volume, Backup, Restore, Schedule, Verification})
_REPLACEABLE: tuple[type[Resource], ...] = (Volume, Schedule, Notification)
_DELETABLE: tuple[type[Resource], ...] = (*_WRITABLE, BackupTarget, SystemBackup, SystemRestore)
_READABLE: tuple[type[Resource], ...] = (*_WRITABLE, *TRANSFERS, Node, NotificationDelivery)


def build_router() -> APIRouter:
    """All routes under /v1 that are about resources."""
    router = APIRouter(dependencies=[Depends(require_token)])
    for kind in _READABLE:
        _add_reading(router, kind)
    for kind in _WRITABLE:
        _add_creating(router, kind)
    for kind in _DELETABLE:
        _add_deleting(router, kind)
    for kind in _REPLACEABLE:
        _add_replacing(router, kind)
    return router


def titled(kind: type[Resource], verb: str) -> dict[str, Any]:
    """What the API's own description calls a route."""
    return {"tags": [kind.plural], "summary": f"{verb} {kind_name(kind)}", "operation_id": f"{verb}{kind_name(kind)}"}


def _add_reading(router: APIRouter, kind: type[R]) -> None:
    async def read_list(
        request: Request,
        wish: PageParameter,
        namespace: str | None = None,
    ) -> Wire:
        services = services_of(request)

        async def shapes(page: Page[R]) -> list[Wire]:
            return await present(services, page.items)

        return await page_of(request, kind, wish, namespace=namespace, shapes=shapes)

    async def read_one(request: Request, at: Place = place(kind)) -> Wire:
        services = services_of(request)
        return await present_one(services, await services.store.get(kind, at.name, at.namespace))

    router.get(f"/{kind.plural}", **titled(kind, "list"))(read_list)
    router.get(path_of(kind), response_model=kind, response_model_exclude_none=True, **titled(kind, "get"))(read_one)


def _add_creating(router: APIRouter, kind: type[R]) -> None:
    async def create(
        request: Request,
        resource: kind,  # type: ignore[valid-type]  # the schema of this very kind
        dry_run: DryRun = False,
    ) -> Response:
        name_made(request, resource)
        asked_by = caller_of(request).title
        made: Resource = await create_resource(services_of(request), resource, dry_run=dry_run, asked_by=asked_by)
        return JSONResponse(made.to_wire(), status_code=200 if dry_run else 201)

    responses = {**dry_run_answer(kind), 201: {"model": kind}, **(refusals(NotFound) if kind in _REFERRING else {})}
    router.post(f"/{kind.plural}", status_code=201, responses=responses, **titled(kind, "create"))(create)


def _add_replacing(router: APIRouter, kind: type[R]) -> None:
    async def replace(
        request: Request,
        resource: kind,  # type: ignore[valid-type]  # the schema of this very kind
        at: Place = place(kind),
        dry_run: DryRun = False,
    ) -> Wire:
        services = services_of(request)
        if isinstance(resource, Schedule):
            await _check_schedule_change(services, resource, at, caller_of(request))
        replaced: Resource = await replace_resource(services, resource, at, dry_run=dry_run)
        return (await with_unmatched(services, replaced)).to_wire()

    shown: dict[str, Any] = {"response_model": kind, "response_model_exclude_none": True}
    router.put(path_of(kind), **shown, **titled(kind, "replace"))(replace)


async def create_resource(services: Services, sent: R, *, dry_run: bool, asked_by: str) -> R:
    """Check it and store it; the way in for everything that clients make."""
    kind = type(sent)
    admission = ADMISSIONS[kind]
    admitted = await admission.check(services, as_sent(sent))
    if kind in _JOBS:
        admitted = requested_by(admitted, asked_by)
    if await exists(services, admitted):
        raise AlreadyExists(f"{admitted.ref} already exists", hint="choose another name, or delete it first")
    if not dry_run:
        if admission.before_create:
            await admission.before_create(services, admitted)
        created = await services.store.create(admitted)
        admitted = created.replace(status=admitted.status)  # as its controller is about to write it
    if isinstance(admitted, Backup):
        admitted = await preview(services, admitted, every_obstacle=dry_run)
    admitted = await with_unmatched(services, admitted)
    assert isinstance(admitted, kind)  # noqa: S101  # admission changes no kind
    return admitted


async def _check_schedule_change(services: Services, sent: Schedule, at: Place, caller: Caller) -> None:
    refused = schedule_refusal(caller.role, await services.store.get(Schedule, at.name), sent)
    if refused:
        raise Forbidden(refused, hint="ask an administrator")


async def replace_resource(services: Services, sent: R, at: Place, *, dry_run: bool) -> R:
    """Check it and put it in the place of the stored one, of which status and identity stay."""
    kind = type(sent)
    wanted = as_sent(sent)
    if (wanted.name, wanted.namespace) != at:
        raise InvalidInput("metadata must name the resource that the path names", field="metadata.name")
    admitted = await ADMISSIONS[kind].check(services, wanted)
    stored = await services.store.get(kind, at.name, at.namespace)
    new = stored.replace(spec=admitted.spec).with_metadata(
        labels=admitted.metadata.labels,
        annotations=admitted.metadata.annotations,
        # A client that says which version it changed wants to be told if that one is old.
        resource_version=sent.metadata.resource_version or stored.metadata.resource_version,
    )
    return new if dry_run else await services.store.update(new)


def _add_deleting(router: APIRouter, kind: type[R]) -> None:
    async def delete(request: Request, at: Place = place(kind), dry_run: DryRun = False) -> Response:
        services = services_of(request)
        resource = await services.store.get(kind, at.name, at.namespace)
        if kind in DEPARTURES:
            await DEPARTURES[kind](services, resource)
        if dry_run:
            return JSONResponse(resource.to_wire())
        await services.store.delete(resource.ref, uid=resource.metadata.uid)
        try:
            remaining = await services.store.get(kind, at.name, at.namespace)
        except NotFound:
            return Response(status_code=204)
        return JSONResponse(remaining.to_wire(), status_code=202)  # it is being cleaned up in the background

    responses = {**dry_run_answer(kind), 202: {"model": kind}, 204: {"description": "Gone"}}
    router.delete(path_of(kind), responses=responses, **titled(kind, "delete"))(delete)
