"""Settings exist by being known: a list shows all of them, defaults included; deleting one means default again."""

from contextlib import suppress
from typing import Any

from fastapi import APIRouter, Depends, Request, Response

from tidegate.api.admission.checks import ADMISSIONS, as_sent
from tidegate.api.collections import collection
from tidegate.api.longhorn.bodies import own_shape, speaks_longhorn
from tidegate.api.longhorn.manners import answer, base_url, body_of, read_object, shown_beside
from tidegate.api.longhorn.settings import (
    FLAT_SETTING_FIELDS,
    LONGHORN_VERSION,
    refuse_former,
    refuse_read_only,
    sent_value,
    setting_shape,
    version_shape,
)
from tidegate.api.parameters import DryRun
from tidegate.api.reads.presenting import Wire
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.security.trail import trail_of
from tidegate.errors import InvalidInput, NotFound
from tidegate.model.resource import Metadata, Resource
from tidegate.model.setting import KNOWN_SETTINGS, Setting, SettingSpec

router = APIRouter(tags=["settings"], dependencies=[Depends(require_token)])


_SHOWN: dict[str, Any] = {"responses": {200: shown_beside(Setting)}}
_BODY = body_of(Setting)


@router.get("/settings")
async def list_settings(request: Request) -> Response:
    """All known settings with the values that hold now."""
    page = await services_of(request).store.list(Setting)
    stored = {setting.name: setting for setting in page.items}
    data = [_shape(request, stored.get(name, _default(name))) for name in sorted(KNOWN_SETTINGS)]
    whole = collection(request, Setting, data, version=page.resource_version, limit=len(data), marker=None)
    return answer(request, whole)


@router.get("/settings/{name}", **_SHOWN)
async def get_setting(request: Request, name: str) -> Response:
    """One setting with the value that holds now."""
    if name == LONGHORN_VERSION:
        return answer(request, version_shape(base=base_url(request)))
    default = _default(name)
    try:
        return _shown(request, await services_of(request).store.get(Setting, name))
    except NotFound:
        return _shown(request, default)


@router.put("/settings/{name}", openapi_extra=_BODY, **_SHOWN)
async def put_setting(request: Request, name: str, dry_run: DryRun = False) -> Response:
    """Set it, effective at once. Longhorn's clients send only the value."""
    services = services_of(request)
    refuse_former(name)
    refuse_read_only(name)
    sent = await read_object(request)
    flat = speaks_longhorn(sent)
    setting = sent_value(name, sent) if flat else own_shape(Setting, sent, beside=FLAT_SETTING_FIELDS)
    trail_of(request).note = f"value {setting.spec.value}"
    if setting.name != name:
        raise InvalidInput("metadata.name must be the name in the path", field="metadata.name")
    admitted = await ADMISSIONS[Setting].check(services, as_sent(setting))
    if dry_run:
        return _shown(request, admitted)
    try:
        stored = await services.store.get(Setting, name)
    except NotFound:
        return _shown(request, await services.store.create(admitted))
    return _shown(request, await services.store.update(stored.replace(spec=admitted.spec)))


@router.delete("/settings/{name}", status_code=204)
async def unset_setting(request: Request, name: str) -> Response:
    """Back to the default."""
    setting = _default(name)  # an unknown name is told, not swallowed
    with suppress(NotFound):  # it already has its default
        await services_of(request).store.delete(setting.ref)
    return Response(status_code=204)


def _default(name: str) -> Setting:
    refuse_former(name)
    if name not in KNOWN_SETTINGS:
        raise NotFound(f"there is no setting {name}", hint=f"known settings: {', '.join(sorted(KNOWN_SETTINGS))}")
    return Setting(metadata=Metadata(name=name), spec=SettingSpec(value=KNOWN_SETTINGS[name].default))


def _shown(request: Request, setting: Resource) -> Response:
    return answer(request, _shape(request, setting))


def _shape(request: Request, setting: Resource) -> Wire:
    assert isinstance(setting, Setting)  # noqa: S101  # admission changes no kind
    own = setting.with_status(category=KNOWN_SETTINGS[setting.name].category).to_wire()
    return {**own, **setting_shape(setting, base=base_url(request))}
