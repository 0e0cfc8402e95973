"""`/v1/systembackups` and `/v1/systemrestores`: our own shape with Longhorn's flat fields beside it, as targets have.

Deleting and everything else is as for any other resource.
"""

from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from tidegate.api.collections import PageParameter, page_of
from tidegate.api.longhorn.bodies import checked, lowered, own_shape, speaks_longhorn
from tidegate.api.longhorn.manners import answer, base_url, body_of, read_object, shown_beside, text_of
from tidegate.api.longhorn.shapes import FLAT_SYSTEM_FIELDS, system_shape
from tidegate.api.parameters import DRY_RUN, DryRun
from tidegate.api.problems import refusals
from tidegate.api.reads.presenting import Wire, present
from tidegate.api.routes.resources import create_resource, titled
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.security.trail import caller_of, name_made
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, NotFound
from tidegate.model.resource import Resource
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore

# What a flat body may say besides a name, as it is called there and in our spec.
_GIVEN: dict[type[Resource], tuple[str, ...]] = {
    SystemBackup: ("volumeBackupPolicy", "target"),
    SystemRestore: ("systemBackup",),
}


def build_router() -> APIRouter:
    """The routes of both kinds."""
    router = APIRouter(dependencies=[Depends(require_token)])
    for kind in _GIVEN:
        _add_reading(router, kind)
        _add_creating(router, kind)
    return router


def _add_reading(router: APIRouter, kind: type[Resource]) -> None:
    async def read_list(
        request: Request,
        wish: PageParameter,
    ) -> Response:
        services = services_of(request)
        page = await page_of(request, kind, wish, shapes=lambda page: _shapes(request, services, *page.items))
        return answer(request, page)

    async def read_one(request: Request, name: str) -> Response:
        services = services_of(request)
        return await _shown(request, services, await services.store.get(kind, name))

    responses: dict[int | str, dict[str, Any]] = {200: shown_beside(kind)}
    router.get(f"/{kind.plural}", **titled(kind, "list"))(read_list)
    router.get(f"/{kind.plural}/{{name}}", responses=responses, **titled(kind, "get"))(read_one)


def _add_creating(router: APIRouter, kind: type[Resource]) -> None:
    async def create(request: Request, dry_run: DryRun = False) -> Response:
        services = services_of(request)
        sent = await read_object(request)
        flat = speaks_longhorn(sent)
        wanted = _from_flat(kind, sent) if flat else own_shape(kind, sent, beside=FLAT_SYSTEM_FIELDS)
        name_made(request, wanted)
        made = await create_resource(services, wanted, dry_run=dry_run, asked_by=caller_of(request).title)
        return await _shown(request, services, made, status=200 if dry_run or flat else 201)

    body = body_of(kind)
    responses: dict[int | str, dict[str, Any]] = {
        200: shown_beside(kind, DRY_RUN),
        201: shown_beside(kind),
        **(refusals(NotFound) if kind is SystemRestore else {}),
    }
    way = router.post(
        f"/{kind.plural}", status_code=201, responses=responses, openapi_extra=body, **titled(kind, "create")
    )
    way(create)


def _from_flat(kind: type[Resource], sent: Mapping[str, object]) -> Resource:
    body = lowered(sent)
    name = text_of(body, "name")
    if not name:
        raise InvalidInput("name is missing", field="name")
    spec = {field: text for field in _GIVEN[kind] if (text := text_of(body, field))}
    return checked(kind, {"metadata": {"name": name}, "spec": spec})


async def _shown(request: Request, services: Services, resource: Resource, *, status: int = 200) -> Response:
    shown = answer(request, (await _shapes(request, services, resource))[0])
    shown.status_code = status
    return shown


async def _shapes(request: Request, services: Services, *found: Resource) -> list[Wire]:
    base = base_url(request)
    wires = await present(services, found)
    return [{**wire, **system_shape(one, base=base)} for wire, one in zip(wires, found, strict=True)]
