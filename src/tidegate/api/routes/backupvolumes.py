"""`/v1/backupvolumes`: what the stores hold of each volume, as the design asks for it and as Longhorn's clients do.

The design reads with GET and deletes with DELETE, Longhorn itself takes every action by POST: both work. No action ever
falls through to the plain route, where a DELETE would mean the whole volume.
"""

from contextlib import suppress
from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Query, Request, Response

from tidegate.api.admission.sync_requests import sync_target, sync_volume
from tidegate.api.longhorn.actions import action_in, only_known_parameters
from tidegate.api.longhorn.manners import ANY_OBJECT, JSON, answer, base_url, read_body, text_of
from tidegate.api.longhorn.shapes import VOLUME_ACTIONS, Wire, backup_shape, volume_shape
from tidegate.api.parameters import CutParameter
from tidegate.api.problems import refusals
from tidegate.api.reads.catalogue_filter import WantedBesideActions
from tidegate.api.reads.catalogue_looks import (
    Cut,
    catalogue_of,
    find_backup,
    find_volume,
    list_backups,
    list_volumes,
    target_urls,
)
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, NotFound, Refused
from tidegate.format.cfgs.paths import is_name
from tidegate.model.stores.catalogue import CatalogueFilter, CatalogueVolume
from tidegate.model.stores.deletion import Deletion
from tidegate.model.stores.target import BackupTarget
from tidegate.ports.deletions import Deletions

router = APIRouter(tags=["backupvolumes"], dependencies=[Depends(require_token)])

Action = Annotated[str | None, Query(description="What to do; the answer lists what there is.", max_length=64)]
_AS_IT_IS_THEN: dict[str, Any] = {
    "description": "With an action: the volume as it is then",
    "content": {JSON: {"schema": {"type": "object"}}},
}
BackupName = Annotated[str, Query(description="The backup that the action is about; may stand in the body.")]


@router.get("/backupvolumes")
async def read_volumes(request: Request, wanted: WantedBesideActions, cut: CutParameter) -> Response:
    """All backup volumes of all targets by name, or those that match; with `limit` a page of them."""
    return await list_volumes(request, services_of(request), wanted, cut)


@router.put("/backupvolumes", responses=refusals(NotFound), openapi_extra=ANY_OBJECT)
async def sync_all(request: Request) -> Response:
    """Bring the catalogue up to date, if the body says `{"syncAllBackupVolumes": true}`."""
    services = services_of(request)
    if (await read_body(request)).get("syncallbackupvolumes") is True:
        for target in (await services.store.list(BackupTarget)).items:
            await sync_target(services, target.name)
    return await list_volumes(request, services, CatalogueFilter(), Cut())


@router.get("/backupvolumes/{identity}", responses=refusals(Refused))
async def read_volume(
    request: Request,
    identity: str,
    wanted: WantedBesideActions,
    *,
    cut: CutParameter,
    action: Action = None,
    name: BackupName = "",
) -> Response:
    """One backup volume; with `action=backupList` its backups, with `action=backupGet` one of them."""
    services = services_of(request)
    match action_in(request, action, known=VOLUME_ACTIONS, allowed=("backupList", "backupGet")):
        case "backupList":
            return await _backups(request, services, await find_volume(services, identity), wanted, cut)
        case "backupGet":
            backup = name or text_of(await read_body(request), "name")
            return await _backup(request, services, identity, backup)
        case _:
            return _shown(request, await find_volume(services, identity))


@router.post("/backupvolumes/{identity}", openapi_extra=ANY_OBJECT)
async def act(
    request: Request, identity: str, wanted: WantedBesideActions, cut: CutParameter, action: Action = None
) -> Response:
    """Longhorn's way: every action, with what it needs in the body."""
    services = services_of(request)
    asked = action_in(request, action, known=VOLUME_ACTIONS, allowed=VOLUME_ACTIONS, needed=True)
    body = await read_body(request)
    match asked:
        case "backupList":
            return await _backups(request, services, await find_volume(services, identity), wanted, cut)
        case "backupListByVolume":
            return await _by_volume(request, services, text_of(body, "name"), cut)
        case "backupGet":
            return await _backup(request, services, identity, text_of(body, "name"))
        case "backupDelete":
            return await _delete_backups(request, services, identity, _names(body))
        case _:
            found = await find_volume(services, identity)
            if body.get("syncbackupvolume") is False:
                return _shown(request, found)
            asked_for = await sync_volume(services, found.target, found.name)
            when = asked_for.forecast
            return _shown(request, found, **({"syncForecast": when.to_wire()} if when else {}))


@router.delete(
    "/backupvolumes/{identity}",
    status_code=202,
    responses={200: _AS_IT_IS_THEN, 202: {"model": Deletion}},
)
async def delete(request: Request, identity: str, action: Action = None, name: BackupName = "") -> Response:
    """Delete a whole volume, or with `action=backupDelete` one backup: from all lists at once, then from the store."""
    services = services_of(request)
    body = await read_body(request)
    if action_in(request, action, known=VOLUME_ACTIONS, allowed=("backupDelete",)) == "backupDelete":
        return await _delete_backups(request, services, identity, [name] if name else _names(body))
    # Whoever misspells the action, or forgets it, must not lose the whole volume.
    only_known_parameters(request)
    if body:
        raise InvalidInput(
            "deleting a whole backup volume takes no body",
            hint="to delete one backup, send the same with ?action=backupDelete",
        )
    found = await find_volume(services, identity)
    deletion = await _deletions(services).ask(found.target, found.name)
    gone = answer(request, {"id": deletion.name, "type": "deletion", **deletion.to_wire(), "links": {}, "actions": {}})
    gone.status_code = 202
    return gone


def _shown(request: Request, volume: CatalogueVolume, **more: object) -> Response:
    shape: Wire = {**volume_shape(volume, base=base_url(request)), **more}
    return answer(request, shape)


async def _backups(
    request: Request, services: Services, volume: CatalogueVolume, wanted: CatalogueFilter, cut: Cut
) -> Response:
    return await list_backups(request, services, replace(wanted, target=volume.target, volume=volume.name), cut)


async def _by_volume(request: Request, services: Services, volume: str, cut: Cut) -> Response:
    """Of all targets: the volume itself may be long gone."""
    if not is_name(volume):
        raise InvalidInput("name must be that of a volume", field="name", hint='send {"name": "VOLUME"}')
    return await list_backups(request, services, CatalogueFilter(volume=volume), cut)


async def _backup(request: Request, services: Services, identity: str, name: str) -> Response:
    if not name:
        raise InvalidInput("empty backup name is not allowed", field="name", hint="name it in the body, or with &name=")
    volume = await find_volume(services, identity)
    found = await find_backup(services, volume, name)
    return answer(request, backup_shape(found, urls=await target_urls(services)))


def _names(body: dict[str, object]) -> list[str]:
    """One `name`, or `names` for many at once."""
    names = body.get("names")
    if names is None:
        one = text_of(body, "name")
        names = [one] if one else []
    if not isinstance(names, list) or not names or not all(isinstance(name, str) and name for name in names):
        raise InvalidInput("empty backup name is not allowed", field="name", hint='send {"name": "BACKUP"}')
    return list(dict.fromkeys(names))


async def _delete_backups(request: Request, services: Services, identity: str, names: list[str]) -> Response:
    """The volume as it is then; one that is already gone is no mistake."""
    volume = await find_volume(services, identity)
    deletion = await _deletions(services).ask(volume.target, volume.name, names)
    with suppress(NotFound):  # if it has gone meanwhile, what it was is still an answer
        volume = await catalogue_of(services).volume(volume.target, volume.name)
    return _shown(request, volume, deletion=deletion.name)


def _deletions(services: Services) -> Deletions:
    if services.deletions is None:
        raise Refused("this server deletes nothing from stores")
    return services.deletions
