"""All that match a filter at once: deleting them, and the Backups of this server that wrote them."""

from collections.abc import Sequence

from fastapi import APIRouter, Depends, Request, Response
from pydantic import Field

from tidegate.api.admission.backup_choice import uploads_of
from tidegate.api.parameters import DryRun, dry_run_answer
from tidegate.api.reads.catalogue_filter import Wanted
from tidegate.api.reads.catalogue_looks import catalogue_of
from tidegate.api.routes.deletions import deletions_of
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.decide.stores.catalogue_selection import (
    MOST_DELETED,
    check_deletable,
    check_expected,
    owners_claimed,
    written_by,
)
from tidegate.errors import NotFound, Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.frozen import Model
from tidegate.model.stores.catalogue import CatalogueBackup, CatalogueFilter
from tidegate.model.stores.catalogue_listing import volume_id
from tidegate.ports.catalogue import LARGEST_PAGE, Catalogue

router = APIRouter(prefix="/catalogue", tags=["catalogue"], dependencies=[Depends(require_token)])

_MOST_RECORDS = 100


class SelectionWish(Model):
    """How many backups somebody saw that shall go."""

    expected: int = Field(ge=0, description="Refused if more match by now.")


class KeptVolume(Model):
    """A volume of which nothing was deleted, and why."""

    volume: str
    message: str


class SelectionDeletion(Model):
    """What was asked for: one deletion for each volume."""

    backups: int
    volumes: int
    deletions: tuple[str, ...] = ()
    kept: tuple[KeptVolume, ...] = ()


class SelectedRecord(Model):
    """A Backup of this server, and how many of what matches it wrote."""

    name: str
    backups: int


class SelectedRecords(Model):
    """The Backups that wrote what matches: what can be pinned and verified."""

    records: tuple[SelectedRecord, ...] = ()
    strangers: int = 0
    """So many were written by nobody that this server has a record of; they can be restored and deleted."""
    newest: int | None = None
    """Only so many of the newest were looked at; absent: all."""


@router.post("/deletions", status_code=202, responses=dry_run_answer(SelectionDeletion))
async def delete_selection(
    request: Request, response: Response, wanted: Wanted, wish: SelectionWish, dry_run: DryRun = False
) -> SelectionDeletion:
    """Delete all backups that match: gone from all lists at once, then from the stores. Volumes themselves stay."""
    services = services_of(request)
    found = await catalogue_of(services).counts(wanted, most=MOST_DELETED)
    check_deletable(wanted, found)
    if dry_run:
        response.status_code = 200
        return SelectionDeletion(backups=found.backups, volumes=found.volumes)
    chosen = await _all(catalogue_of(services), wanted)
    check_expected(wish.expected, len(chosen))
    return await _delete(services, chosen)


@router.get("/records", response_model_exclude_none=True)
async def records(request: Request, wanted: Wanted) -> SelectedRecords:
    """Which Backups of this server wrote what matches; what others wrote has no record that could be pinned."""
    services = services_of(request)
    page = await catalogue_of(services).backups(wanted, limit=LARGEST_PAGE)
    uploads = {}
    for name in owners_claimed(page.items)[:_MOST_RECORDS]:
        try:
            backup = await services.store.get(Backup, name)
        except NotFound:
            continue
        if not backup.deleting:
            uploads[name] = await uploads_of(services, backup)
    wrote = written_by(page.items, uploads)
    return SelectedRecords(
        records=tuple(SelectedRecord(name=name, backups=count) for name, count in wrote.most_common()),
        strangers=len(page.items) - wrote.total(),
        newest=LARGEST_PAGE if page.marker else None,
    )


async def _all(catalogue: Catalogue, wanted: CatalogueFilter) -> list[CatalogueBackup]:
    chosen: list[CatalogueBackup] = []
    marker = ""
    while True:
        page = await catalogue.backups(wanted, limit=LARGEST_PAGE, marker=marker)
        chosen += page.items
        marker = page.marker
        if not marker:
            return chosen


async def _delete(services: Services, chosen: Sequence[CatalogueBackup]) -> SelectionDeletion:
    """One volume that may not go now keeps no other."""
    by_volume: dict[tuple[str, str], list[str]] = {}
    for one in chosen:
        by_volume.setdefault((one.target, one.volume), []).append(one.record.name)
    asked, kept, gone = [], [], 0
    for (target, volume), names in by_volume.items():
        try:
            deletion = await deletions_of(services).ask(target, volume, names)
        except Refused as error:
            kept.append(KeptVolume(volume=volume_id(volume, target), message=error.message))
            continue
        asked.append(deletion.name)
        gone += len(names)
    return SelectionDeletion(backups=gone, volumes=len(asked), deletions=tuple(asked), kept=tuple(kept))
