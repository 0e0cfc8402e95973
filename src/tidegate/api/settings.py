"""Settings exist by being known: a list shows all of them, defaults included; deleting one means default again."""

from contextlib import suppress

from fastapi import APIRouter, Depends, Request, Response

from tidegate.api.admission import ADMISSIONS, as_sent
from tidegate.api.auth import require_token, services_of
from tidegate.api.collections import collection
from tidegate.api.parameters import DryRun
from tidegate.api.presenting import Wire
from tidegate.api.trail import trail_of
from tidegate.errors import InvalidInput, NotFound
from tidegate.model.resource import Metadata, Resource
from tidegate.model.setting import KNOWN_SETTINGS, Setting, SettingSpec

router = APIRouter(tags=["settings"], dependencies=[Depends(require_token)])


@router.get("/settings")
async def list_settings(request: Request) -> Wire:
    """All known settings with the values that hold now."""
    page = await services_of(request).store.list(Setting)
    stored = {setting.name: setting for setting in page.items}
    data = [_shown(stored.get(name, _default(name))) for name in sorted(KNOWN_SETTINGS)]
    return collection(request, Setting, data, version=page.resource_version, limit=len(data), marker=None)


@router.get("/settings/{name}", response_model=Setting, response_model_exclude_none=True)
async def get_setting(request: Request, name: str) -> Wire:
    """One setting with the value that holds now."""
    default = _default(name)
    try:
        return _shown(await services_of(request).store.get(Setting, name))
    except NotFound:
        return _shown(default)


@router.put("/settings/{name}", response_model=Setting, response_model_exclude_none=True)
async def put_setting(request: Request, name: str, setting: Setting, dry_run: DryRun = False) -> Wire:
    """Set it, effective at once."""
    services = services_of(request)
    trail_of(request).note = f"value {setting.spec.value}"
    if setting.name != name:
        raise InvalidInput("metadata.name must be the name in the path", field="metadata.name")
    admitted = await ADMISSIONS[Setting].check(services, as_sent(setting))
    if dry_run:
        return _shown(admitted)
    try:
        stored = await services.store.get(Setting, name)
    except NotFound:
        return _shown(await services.store.create(admitted))
    return _shown(await services.store.update(stored.replace(spec=admitted.spec)))


@router.delete("/settings/{name}", status_code=204)
async def unset_setting(request: Request, name: str) -> Response:
    """Back to the default."""
    setting = _default(name)  # an unknown name is told, not swallowed
    with suppress(NotFound):  # it already has its default
        await services_of(request).store.delete(setting.ref)
    return Response(status_code=204)


def _default(name: str) -> Setting:
    if name not in KNOWN_SETTINGS:
        raise NotFound(f"there is no setting {name}", hint=f"known settings: {', '.join(sorted(KNOWN_SETTINGS))}")
    return Setting(metadata=Metadata(name=name), spec=SettingSpec(value=KNOWN_SETTINGS[name].default))


def _shown(setting: Resource) -> Wire:
    return setting.with_status(category=KNOWN_SETTINGS[setting.name].category).to_wire()
