"""Pins: backups that only a person may delete."""

from fastapi import APIRouter, Depends, Request

from tidegate.api.reads.presenting import Wire, present_one
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.errors import Refused
from tidegate.model.backups.backup import PINNED_LABEL, Backup

router = APIRouter(tags=["backups"], dependencies=[Depends(require_token)])


@router.post("/backups/{name}/pin", response_model=Backup, response_model_exclude_none=True)
async def pin(request: Request, name: str) -> Wire:
    """Keep a backup, whatever its ttl and the retention of its schedule say."""
    services = services_of(request)
    backup = await services.store.get(Backup, name)
    if backup.deleting:
        raise Refused(f"backup {name} is being deleted; it is too late to pin it")
    return await _with_labels(services, backup, {**backup.metadata.labels, PINNED_LABEL: "true"})


@router.post("/backups/{name}/unpin", response_model=Backup, response_model_exclude_none=True)
async def unpin(request: Request, name: str) -> Wire:
    """Let ttl and retention hold again; what is over by then goes at once."""
    services = services_of(request)
    backup = await services.store.get(Backup, name)
    labels = {key: value for key, value in backup.metadata.labels.items() if key != PINNED_LABEL}
    return await _with_labels(services, backup, labels)


async def _with_labels(services: Services, backup: Backup, labels: dict[str, str]) -> Wire:
    return await present_one(services, await services.store.update(backup.with_metadata(labels=labels)))
