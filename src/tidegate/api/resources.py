"""The same routes for every kind: list, get, create, replace, delete."""

from typing import Annotated, Any, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import JSONResponse

from tidegate.api.admission import ADMISSIONS, as_sent, exists
from tidegate.api.auth import require_token, services_of
from tidegate.api.departure import DEPARTURES
from tidegate.api.presenting import Wire, present, present_one
from tidegate.api.queue_preview import preview
from tidegate.errors import AlreadyExists, InvalidInput, NotFound
from tidegate.model.backup import Backup
from tidegate.model.kinds import kind_name
from tidegate.model.labels import Selector
from tidegate.model.node import Node
from tidegate.model.resource import Metadata, Resource
from tidegate.model.restore import Restore
from tidegate.model.setting import KNOWN_SETTINGS, Setting, SettingSpec
from tidegate.model.target import BackupTarget
from tidegate.model.transfer import TRANSFERS
from tidegate.model.volume import Namespace, Volume

R = TypeVar("R", bound=Resource)

LARGEST_PAGE = 1000
DryRun = Annotated[bool, Query(alias="dryRun", description="Say what would happen and change nothing.")]

# What clients may write; the others are made by the system and can only be read.
_WRITABLE: tuple[type[Resource], ...] = (Namespace, Volume, BackupTarget, Backup, Restore)
_REPLACEABLE: tuple[type[Resource], ...] = (Volume, BackupTarget)
_READABLE: tuple[type[Resource], ...] = (*_WRITABLE, *TRANSFERS, Node)


def build_router() -> APIRouter:
    """All routes under /v1 that are about resources."""
    router = APIRouter(dependencies=[Depends(require_token)])
    for kind in _READABLE:
        _add_reading(router, kind)
    for kind in _WRITABLE:
        _add_creating(router, kind)
        _add_deleting(router, kind)
    for kind in _REPLACEABLE:
        _add_replacing(router, kind)
    _add_settings(router)
    return router


def _path(kind: type[Resource]) -> str:
    return f"/{kind.plural}/{{namespace}}/{{name}}" if kind.namespaced else f"/{kind.plural}/{{name}}"


def _titled(kind: type[Resource], verb: str) -> dict[str, Any]:
    return {"tags": [kind.plural], "summary": f"{verb} {kind_name(kind)}", "operation_id": f"{verb}{kind_name(kind)}"}


def _add_reading(router: APIRouter, kind: type[R]) -> None:
    async def read_list(
        request: Request,
        namespace: str | None = None,
        label_selector: Annotated[str, Query(alias="labelSelector", max_length=4096)] = "",
        limit: Annotated[int, Query(ge=1, le=LARGEST_PAGE)] = LARGEST_PAGE,
        marker: Annotated[str | None, Query(max_length=1024)] = None,
    ) -> Wire:
        store = services_of(request).store
        page = await store.list(
            kind, namespace=namespace, selector=_selector(label_selector), limit=limit, marker=marker
        )
        return collection(request, kind, await present(store, page.items), page.resource_version, limit, page.marker)

    async def read_one(request: Request, name: str, namespace: str = "") -> Wire:
        store = services_of(request).store
        return await present_one(store, await store.get(kind, name, namespace))

    router.get(f"/{kind.plural}", **_titled(kind, "list"))(read_list)
    router.get(_path(kind), response_model=kind, response_model_exclude_none=True, **_titled(kind, "get"))(read_one)


def _add_creating(router: APIRouter, kind: type[R]) -> None:
    async def create(request: Request, resource: kind, dry_run: DryRun = False) -> Response:  # type: ignore[valid-type]  # noqa: FBT002
        services = services_of(request)
        admission = ADMISSIONS[kind]
        admitted = await admission.check(services, as_sent(resource))
        if await exists(services, admitted):
            raise AlreadyExists(f"{admitted.ref} already exists", hint="choose another name, or delete it first")
        if not dry_run:
            if admission.before_create:
                await admission.before_create(services, admitted)
            admitted = await services.store.create(admitted)
        if isinstance(admitted, Backup):
            admitted = await preview(services, admitted)
        return JSONResponse(admitted.to_wire(), status_code=200 if dry_run else 201)

    responses: dict[int | str, dict[str, Any]] = {201: {"model": kind}}
    router.post(f"/{kind.plural}", status_code=201, responses=responses, **_titled(kind, "create"))(create)


def _add_replacing(router: APIRouter, kind: type[R]) -> None:
    async def replace(
        request: Request,
        name: str,
        resource: kind,
        namespace: str = "",
        dry_run: DryRun = False,  # type: ignore[valid-type]  # noqa: FBT002
    ) -> Wire:
        services = services_of(request)
        if (resource.name, resource.namespace) != (name, namespace):  # type: ignore[attr-defined]
            raise InvalidInput("metadata must name the resource that the path names", field="metadata.name")
        admitted = await ADMISSIONS[kind].check(services, as_sent(resource))
        stored = await services.store.get(kind, name, namespace)
        given = admitted.metadata
        wanted = stored.replace(spec=admitted.spec).with_metadata(labels=given.labels, annotations=given.annotations)
        version = resource.metadata.resource_version  # type: ignore[attr-defined]
        if version:  # a client that says which version it changed wants to be told if that is old
            wanted = wanted.with_metadata(resource_version=version)
        return (wanted if dry_run else await services.store.update(wanted)).to_wire()

    router.put(_path(kind), response_model=kind, response_model_exclude_none=True, **_titled(kind, "replace"))(replace)


def _add_deleting(router: APIRouter, kind: type[R]) -> None:
    async def delete(request: Request, name: str, namespace: str = "", dry_run: DryRun = False) -> Response:  # noqa: FBT002
        services = services_of(request)
        resource = await services.store.get(kind, name, namespace)
        if kind in DEPARTURES:
            await DEPARTURES[kind](services, resource)
        if dry_run:
            return JSONResponse(resource.to_wire())
        await services.store.delete(resource.ref, uid=resource.metadata.uid)
        try:
            remaining = await services.store.get(kind, name, namespace)
        except NotFound:
            return Response(status_code=204)
        return JSONResponse(remaining.to_wire(), status_code=202)  # it is being cleaned up in the background

    responses: dict[int | str, dict[str, Any]] = {202: {"model": kind}, 204: {"description": "Gone"}}
    router.delete(_path(kind), responses=responses, **_titled(kind, "delete"))(delete)


def _add_settings(router: APIRouter) -> None:
    """Settings exist by being known: a list shows all of them, defaults included; deleting means default again."""

    async def read_list(request: Request) -> Wire:
        page = await services_of(request).store.list(Setting)
        stored = {setting.name: setting for setting in page.items}
        data = [stored.get(name, _default_setting(name)).to_wire() for name in sorted(KNOWN_SETTINGS)]
        return collection(request, Setting, data, page.resource_version, len(data), None)

    async def read_one(request: Request, name: str) -> Wire:
        try:
            return (await services_of(request).store.get(Setting, name)).to_wire()
        except NotFound:
            return _default_setting(name).to_wire()

    async def put(request: Request, name: str, setting: Setting, dry_run: DryRun = False) -> Wire:  # noqa: FBT002
        services = services_of(request)
        if setting.name != name:
            raise InvalidInput("metadata.name must be the name in the path", field="metadata.name")
        admitted = await ADMISSIONS[Setting].check(services, as_sent(setting))
        if dry_run:
            return admitted.to_wire()
        try:
            stored = await services.store.get(Setting, name)
        except NotFound:
            return (await services.store.create(admitted)).to_wire()
        return (await services.store.update(stored.replace(spec=admitted.spec))).to_wire()

    async def unset(request: Request, name: str) -> Response:
        _default_setting(name)  # an unknown name is told, not swallowed
        try:
            await services_of(request).store.delete(_default_setting(name).ref)
        except NotFound:
            pass  # it already has its default
        return Response(status_code=204)

    single: dict[str, Any] = {"response_model": Setting, "response_model_exclude_none": True}
    router.get("/settings", **_titled(Setting, "list"))(read_list)
    router.get("/settings/{name}", **single, **_titled(Setting, "get"))(read_one)
    router.put("/settings/{name}", **single, **_titled(Setting, "replace"))(put)
    router.delete("/settings/{name}", status_code=204, **_titled(Setting, "delete"))(unset)


def _default_setting(name: str) -> Setting:
    if name not in KNOWN_SETTINGS:
        raise NotFound(f"there is no setting {name}", hint=f"known settings: {', '.join(sorted(KNOWN_SETTINGS))}")
    return Setting(metadata=Metadata(name=name), spec=SettingSpec(value=KNOWN_SETTINGS[name].default))


def _selector(text: str) -> Selector:
    try:
        return Selector.parse(text)
    except ValueError as error:
        raise InvalidInput(str(error), field="labelSelector") from None


def collection(
    request: Request, kind: type[Resource], data: list[Wire], version: str, limit: int, marker: str | None
) -> Wire:
    """The shape that Longhorn's clients know, with keyset paging."""
    links = {"self": str(request.url)}
    if marker is not None:
        links["next"] = str(request.url.include_query_params(marker=marker))
    return {
        "type": "collection",
        "resourceType": kind_name(kind)[0].lower() + kind_name(kind)[1:],
        "data": data,
        "links": links,
        "actions": {},
        "pagination": {"limit": limit, "next": marker},
        "resourceVersion": version,
    }
