"""`/v1/catalogue`: search, counts and state of all that the stores hold, for our own clients. Always in pages."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request, Response

from tidegate.api.auth import require_token, services_of
from tidegate.api.catalogue_looks import Cut, catalogue_of, list_backups, list_volumes
from tidegate.api.longhorn_actions import only_known_parameters
from tidegate.api.parameters import CutParameter
from tidegate.api.presenting import Wire
from tidegate.api.services import Services
from tidegate.api.sync_requests import volume_sync_of
from tidegate.decide.catalogue_state import target_catalogue
from tidegate.errors import InvalidInput
from tidegate.model.catalogue import BackupState, CatalogueFilter
from tidegate.model.catalogue_status import CatalogueStatus, TargetCatalogue, VolumeSync
from tidegate.model.target import BackupTarget
from tidegate.ports.catalogue import PAGE

router = APIRouter(prefix="/catalogue", tags=["catalogue"], dependencies=[Depends(require_token)])

_GLOB = "Exactly this, or with `*` a pattern."
_Glob = Annotated[str, Query(max_length=1024, description=_GLOB)]
_FILTERS = frozenset(
    {
        *("target", "volume", "namespace", "claim", "workload", "pod"),
        *("search", "label", "state", "since", "until", "limit", "marker"),
    }
)
_LABEL = "`key=value`, or `key` with any value; several must all hold."


async def _texts(
    *,
    target: _Glob = "",
    volume: _Glob = "",
    namespace: _Glob = "",
    claim: _Glob = "",
    workload: _Glob = "",
    pod: _Glob = "",
) -> CatalogueFilter:
    return CatalogueFilter(target=target, volume=volume, namespace=namespace, claim=claim, workload=workload, pod=pod)


async def _wanted(
    request: Request,
    texts: Annotated[CatalogueFilter, Depends(_texts)],
    *,
    search: Annotated[str, Query(max_length=1024, description="A part of any of these names, in any case.")] = "",
    label: Annotated[list[str] | None, Query(description=_LABEL)] = None,
    state: BackupState | None = None,
    since: Annotated[datetime | None, Query(description="Made at this time or later.")] = None,
    until: Annotated[datetime | None, Query(description="Made before this time.")] = None,
) -> CatalogueFilter:
    # A filter that is misspelt, or given twice, would show more than was asked for.
    only_known_parameters(request, *_FILTERS)
    for name in _FILTERS - {"label"}:
        if len(request.query_params.getlist(name)) > 1:
            raise InvalidInput(f"{name} is given twice", field=name, hint="give it once; a * may stand for several")
    begin, end = _aware(since), _aware(until)
    if begin is not None and end is not None and begin >= end:
        raise InvalidInput("until must be later than since", field="until")
    labels = dict(_label(text) for text in label or ())
    return replace(texts, search=search, labels=labels, state=state, since=begin, until=end)


Wanted = Annotated[CatalogueFilter, Depends(_wanted)]


@router.get("/volumes")
async def volumes(request: Request, wanted: Wanted, cut: CutParameter) -> Response:
    """Volumes that match, by name: those with at least one such backup."""
    return await list_volumes(request, services_of(request), wanted, _paged(cut))


@router.get("/backups")
async def backups(request: Request, wanted: Wanted, cut: CutParameter) -> Response:
    """Volume backups that match, the newest first."""
    return await list_backups(request, services_of(request), wanted, _paged(cut))


@router.get("/counts")
async def counts(request: Request, wanted: Wanted) -> Wire:
    """How many volumes and backups match, exactly."""
    found = await catalogue_of(services_of(request)).counts(wanted)
    return {"volumes": found.volumes, "backups": found.backups}


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


@router.get("/syncs/{target}/{volume}", response_model_exclude_none=True)
async def volume_sync(request: Request, target: str, volume: str) -> VolumeSync:
    """How the sync of one volume goes that somebody asked for."""
    return await volume_sync_of(services_of(request), target, volume)


async def _target(services: Services, target: BackupTarget) -> TargetCatalogue:
    found = await catalogue_of(services).counts(CatalogueFilter(target=target.name))
    sync = services.syncs.target_sync(target) if services.syncs else target.status.sync
    return target_catalogue(target, found, sync)


def _paged(cut: Cut) -> Cut:
    return Cut(cut.limit or PAGE, cut.marker)


def _label(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    if not key:
        raise InvalidInput(f"{text[:80]!r} is not a label", field="label", hint="write key=value, or only the key")
    return key, value


def _aware(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC, as all times of the store are."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
