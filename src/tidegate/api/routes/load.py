"""The load: what each node carries and may carry. One picture to read, one document to change."""

from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, Query, Request

from tidegate.api.parameters import DryRun
from tidegate.api.reads.load import NEVER_SET, load_now
from tidegate.api.security.auth import require_token, services_of
from tidegate.errors import AlreadyExists, InvalidInput, NotFound, StaleVersion
from tidegate.model.resource import Metadata
from tidegate.model.setting import LOAD_CONCURRENCY, LONGEST_VALUE, Setting, SettingSpec
from tidegate.model.transfers.load import ENVELOPE, load_concurrency_from
from tidegate.model.transfers.load_status import LoadStatus
from tidegate.ports.resource_store import ResourceStore

router = APIRouter(tags=["load"], dependencies=[Depends(require_token)])

_SCHEMA = {"$ref": "#/components/schemas/LoadConcurrency"}
# Read by the same code as the setting and the files, so that all of them refuse the same with the same words.
_DOCUMENT = {
    "requestBody": {
        "content": {
            "application/json": {"schema": {"anyOf": [_SCHEMA, {"type": "object", "properties": {ENVELOPE: _SCHEMA}}]}}
        }
    }
}
Version = Annotated[
    str, Query(description="The version that was read before; refused if somebody else changed it.", max_length=256)
]


@router.get("/load", response_model_exclude_none=True)
async def get_load(request: Request) -> LoadStatus:
    """What each node carries, who is made ready, who waits for what, and the numbers that limit them."""
    return await load_now(services_of(request))


@router.put("/load", response_model_exclude_none=True, openapi_extra=_DOCUMENT)
async def put_load(
    request: Request, document: Annotated[dict[str, Any], Body()], version: Version = "", dry_run: DryRun = False
) -> LoadStatus:
    """Set all limits at once, effective without a restart; running transfers go on to their end."""
    services = services_of(request)
    setting = _setting(document)
    if dry_run:
        return await load_now(services, instead=setting)
    await _write(services.store, setting, version)
    return await load_now(services)


def _setting(document: dict[str, Any]) -> Setting:
    try:
        text = load_concurrency_from(document).render()
    except ValueError as error:
        raise InvalidInput(str(error), field=LOAD_CONCURRENCY.name) from None
    if len(text) > LONGEST_VALUE:
        raise InvalidInput(
            f"perNodeConfig: its rules take {len(text)} characters, and there is room for {LONGEST_VALUE}; "
            "choose nodes by fewer labels",
            field=LOAD_CONCURRENCY.name,
        )
    return Setting(metadata=Metadata(name=LOAD_CONCURRENCY.name), spec=SettingSpec(value=text))


async def _write(store: ResourceStore, setting: Setting, version: str) -> None:
    changed = StaleVersion("somebody else changed the load configuration", hint="look at it and try again")
    try:
        stored = await store.get(Setting, setting.name)
    except NotFound:
        if version not in {"", NEVER_SET}:
            raise changed from None
        try:
            await store.create(setting)
        except AlreadyExists:
            raise changed from None
        return
    if version not in {"", stored.metadata.resource_version}:
        raise changed
    await store.update(stored.replace(spec=setting.spec))
