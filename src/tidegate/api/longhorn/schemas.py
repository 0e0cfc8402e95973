"""`/v1/schemas` and what else a client made for Longhorn looks at first: it learns from here what it can ask for."""

from typing import Any

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel

from tidegate.api.longhorn.manners import answer, base_url, collection
from tidegate.api.longhorn.shapes import Wire
from tidegate.api.security.auth import require_token
from tidegate.errors import NotFound
from tidegate.model.stores.catalogue_listing import ListedBackup, ListedVolume

router = APIRouter(prefix="/v1", tags=["schemas"], dependencies=[Depends(require_token)])

Fields = dict[str, dict[str, object]]
_TYPES = {"string": "string", "integer": "int", "boolean": "bool", "object": "map[string]"}


def _of(model: type[BaseModel]) -> Fields:
    """Each field with the type that it has on the wire; links and actions belong to every resource."""
    found: dict[str, Any] = model.model_json_schema()["properties"]
    return {name: {"type": _TYPES[field["type"]]} for name, field in found.items() if name not in {"links", "actions"}}


def _given(**types: str) -> Fields:
    return {name: {"type": kind, "create": True, "update": True} for name, kind in types.items()}


def _read_only(*names: str) -> Fields:
    return {name: {"type": "string"} for name in names}


def _action(of: str, result: str) -> dict[str, str]:
    return {"input": of, "output": result}


_TARGET_INPUT = {
    "name": "string",
    "backupTargetURL": "string",
    "credentialSecret": "string",
    "pollInterval": "string",
}
_SCHEMAS: dict[str, Wire] = {
    "schema": {"resourceFields": _given(id="string")},
    "apiVersion": {"resourceFields": _given(id="string")},
    "error": {"resourceFields": _given(status="int", code="string", message="string", detail="string")},
    "backupTarget": {
        "resourceMethods": ["GET", "PUT", "DELETE"],
        "collectionMethods": ["GET", "POST", "PUT"],
        "resourceFields": {**_given(**_TARGET_INPUT), "available": {"type": "bool"}, "message": {"type": "string"}},
        "resourceActions": {
            "backupTargetSync": _action("syncBackupTarget", "backupTarget"),
            "backupTargetUpdate": _action("backupTarget", "backupTarget"),
        },
    },
    "backupVolume": {
        "resourceMethods": ["GET", "DELETE"],
        "collectionMethods": ["GET", "PUT"],
        "resourceFields": _of(ListedVolume),
        "resourceActions": {
            "backupList": _action("", "backup"),
            "backupListByVolume": _action("backupInput", "backup"),
            "backupGet": _action("backupInput", "backup"),
            "backupDelete": _action("backupInput", "backupVolume"),
            "backupVolumeSync": _action("syncBackupVolume", "backupVolume"),
        },
    },
    "backup": {"resourceFields": _of(ListedBackup)},
    "setting": {
        "resourceMethods": ["GET", "PUT"],
        "collectionMethods": ["GET"],
        "resourceFields": {
            "name": {"type": "string"},
            **_given(value="string"),
            "applied": {"type": "bool"},
            "definition": {"type": "settingDefinition"},
        },
    },
    "settingDefinition": {
        "resourceFields": {
            **{name: {"type": "string"} for name in ("displayName", "description", "category", "type", "default")},
            **{name: {"type": "bool"} for name in ("required", "readOnly")},
        }
    },
    "systemBackup": {
        "resourceMethods": ["GET", "DELETE"],
        "collectionMethods": ["GET", "POST"],
        "resourceFields": {
            **_given(name="string", volumeBackupPolicy="string", target="string"),
            **_read_only("version", "managerImage", "state", "createdAt", "error"),
        },
    },
    "systemRestore": {
        "resourceMethods": ["GET", "DELETE"],
        "collectionMethods": ["GET", "POST"],
        "resourceFields": {
            **_given(name="string", systemBackup="string"),
            **_read_only("state", "createdAt", "error"),
        },
    },
    "backupInput": {"resourceFields": _given(name="string")},
    "syncBackupTarget": {"resourceFields": _given(syncBackupTarget="bool", volume="string", confirmVanished="string")},
    "syncBackupVolume": {"resourceFields": _given(syncBackupVolume="bool")},
}


def schema(name: str, *, base: str) -> Wire:
    """One schema; raises NotFound."""
    found = _SCHEMAS.get(name)
    if found is None:
        raise NotFound(f"there is no schema {name[:80]!r}", hint=f"there are: {', '.join(_SCHEMAS)}")
    plural = "schemas" if name == "schema" else f"{name}s"
    links = {"self": f"{base}/v1/schemas/{name}", "collection": f"{base}/v1/{plural.lower()}"}
    empty: Wire = {"resourceMethods": [], "collectionMethods": [], "resourceActions": {}}
    return {"id": name, "type": "schema", "pluralName": plural, **empty, **found, "links": links, "actions": {}}


@router.get("/schemas")
async def schemas(request: Request) -> Response:
    """What there is, with its fields, methods and actions."""
    base = base_url(request)
    return answer(request, collection(request, "schema", [schema(name, base=base) for name in _SCHEMAS]))


@router.get("/schemas/{name}")
async def one_schema(request: Request, name: str) -> Response:
    """One of them."""
    return answer(request, schema(name, base=base_url(request)))


@router.get("")
async def version(request: Request) -> Response:
    """The API's own entry: where everything begins."""
    return answer(request, _version(base_url(request)))


@router.get("/apiversions")
async def versions(request: Request) -> Response:
    """All versions of the API: one."""
    return answer(request, collection(request, "apiVersion", [_version(base_url(request))]))


def _version(base: str) -> Wire:
    links = {
        "self": f"{base}/v1",
        "schemas": f"{base}/v1/schemas",
        "backupTargets": f"{base}/v1/backuptargets",
        "backupVolumes": f"{base}/v1/backupvolumes",
        "settings": f"{base}/v1/settings",
        "systemBackups": f"{base}/v1/systembackups",
        "systemRestores": f"{base}/v1/systemrestores",
    }
    return {"id": "v1", "type": "apiVersion", "links": links, "actions": {}}
