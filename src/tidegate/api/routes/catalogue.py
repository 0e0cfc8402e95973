"""`/v1/catalogue`: search, counts and state of all that the stores hold, for our own clients. Always in pages."""

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from tidegate.api.admission.sync_requests import volume_sync_of
from tidegate.api.parameters import CutParameter
from tidegate.api.problems import refusals
from tidegate.api.reads.catalogue_filter import Wanted
from tidegate.api.reads.catalogue_looks import Cut, catalogue_of, list_backups, list_volumes, not_read
from tidegate.api.reads.presenting import Wire
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.decide.stores.catalogue_state import target_catalogue
from tidegate.errors import InvalidInput
from tidegate.model.stores.catalogue import CatalogueFilter
from tidegate.model.stores.catalogue_facets import CatalogueFacets
from tidegate.model.stores.catalogue_status import CatalogueDamage, CatalogueStatus, TargetCatalogue, VolumeSync
from tidegate.model.stores.target import BackupTarget
from tidegate.ports.catalogue import PAGE

router = APIRouter(prefix="/catalogue", tags=["catalogue"], dependencies=[Depends(require_token)])

Skip = Annotated[
    int,
    Query(ge=0, le=1 << 40, description="Begin after so many, instead of at a marker; with a filter at most 5,000."),
]


@router.get("/volumes")
async def volumes(request: Request, wanted: Wanted, cut: CutParameter, skip: Skip = 0) -> Response:
    """Volumes that match, by name: those with at least one such backup."""
    return await list_volumes(request, services_of(request), wanted, _paged(cut, skip))


@router.get("/backups")
async def backups(request: Request, wanted: Wanted, cut: CutParameter, skip: Skip = 0) -> Response:
    """Volume backups that match, the newest first."""
    return await list_backups(request, services_of(request), wanted, _paged(cut, skip))


@router.get("/counts")
async def counts(request: Request, wanted: Wanted) -> Wire:
    """How many volumes and backups match; `more` where they were not counted to the end."""
    services = services_of(request)
    found = await catalogue_of(services).counts(wanted)
    told = await not_read(services, wanted.target)
    return {"volumes": found.volumes, "backups": found.backups, "more": found.more, **told}


@router.get("/facets", response_model_exclude_none=True)
async def facets(request: Request, wanted: Wanted) -> CatalogueFacets:
    """By target, namespace, state and label: how many match, the most frequent first."""
    return await catalogue_of(services_of(request)).facets(wanted)


@router.get("/status", response_model_exclude_none=True)
async def status(request: Request) -> CatalogueStatus:
    """How old the catalogue is, what is being read, and what waits for somebody."""
    services = services_of(request)
    targets = (await services.store.list(BackupTarget)).items
    of_targets = tuple([await _target(services, target) for target in targets])
    return CatalogueStatus(
        volumes=sum(one.volumes for one in of_targets),
        backups=sum(one.backups for one in of_targets),
        targets=of_targets,
    )


@router.get("/damage/{target}")
async def damage(request: Request, target: str) -> CatalogueDamage:
    """What of a target could not be read: how many volumes and backups, and the first of them by name."""
    services = services_of(request)
    found = await services.store.get(BackupTarget, target)
    return await catalogue_of(services).damage(found.name)


@router.get("/syncs/{target}/{volume}", response_model_exclude_none=True, responses=refusals(InvalidInput))
async def volume_sync(request: Request, target: str, volume: str) -> VolumeSync:
    """How the sync of one volume goes that somebody asked for."""
    return await volume_sync_of(services_of(request), target, volume)


async def _target(services: Services, target: BackupTarget) -> TargetCatalogue:
    catalogue = catalogue_of(services)
    found, last = await catalogue.counts(CatalogueFilter(target=target.name)), await catalogue.full_syncs()
    sync = services.syncs.target_sync(target) if services.syncs else target.status.sync
    damage = await catalogue.damage(target.name, most=0)
    return target_catalogue(target, found, sync, damage, last=last.get(target.name))


def _paged(cut: Cut, skip: int) -> Cut:
    return Cut(cut.limit or PAGE, cut.marker, skip)
