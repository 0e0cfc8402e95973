"""The filter of the catalogue as parameters of a request: the same for lists, counts, facets and deletes."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Query, Request

from tidegate.api.longhorn.actions import only_known_parameters
from tidegate.errors import InvalidInput
from tidegate.model.stores.catalogue import BackupState, CatalogueFilter

_GLOB = "Exactly this, or with `*` a pattern."
_Glob = Annotated[str, Query(max_length=1024, description=_GLOB)]
_FILTERS = frozenset(
    {
        *("target", "volume", "namespace", "claim", "workload", "pod"),
        *("search", "label", "state", "since", "until"),
    }
)
# What requests with a filter may say besides.
_BESIDE = frozenset({"limit", "marker", "skip", "dryRun"})
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


async def _given(
    request: Request,
    texts: Annotated[CatalogueFilter, Depends(_texts)],
    *,
    search: Annotated[str, Query(max_length=1024, description="A part of any of these names, in any case.")] = "",
    label: Annotated[list[str] | None, Query(description=_LABEL)] = None,
    state: BackupState | None = None,
    since: Annotated[datetime | None, Query(description="Made at this time or later.")] = None,
    until: Annotated[datetime | None, Query(description="Made before this time.")] = None,
) -> CatalogueFilter:
    for name in _FILTERS - {"label"}:
        if len(request.query_params.getlist(name)) > 1:
            raise InvalidInput(f"{name} is given twice", field=name, hint="give it once; a * may stand for several")
    begin, end = _aware(since), _aware(until)
    if begin is not None and end is not None and begin >= end:
        raise InvalidInput("until must be later than since", field="until")
    labels = dict(_label(text) for text in label or ())
    return replace(texts, search=search, labels=labels, state=state, since=begin, until=end)


async def _wanted(request: Request, given: Annotated[CatalogueFilter, Depends(_given)]) -> CatalogueFilter:
    # A filter that is misspelt would show more than was asked for.
    only_known_parameters(request, *_FILTERS, *_BESIDE)
    return given


async def _wanted_beside_actions(
    request: Request, given: Annotated[CatalogueFilter, Depends(_given)]
) -> CatalogueFilter:
    # Clients made for Longhorn say in which form they want an answer; of those there is one.
    forms = [name for name in request.query_params if name.startswith("_")]
    only_known_parameters(request, *_FILTERS, "limit", "marker", "action", "name", *forms)
    return given


Wanted = Annotated[CatalogueFilter, Depends(_wanted)]
WantedBesideActions = Annotated[CatalogueFilter, Depends(_wanted_beside_actions)]


def _label(text: str) -> tuple[str, str]:
    key, _, value = text.partition("=")
    if not key:
        raise InvalidInput(f"{text[:80]!r} is not a label", field="label", hint="write key=value, or only the key")
    return key, value


def _aware(moment: datetime | None) -> datetime | None:
    """A time without a zone is UTC, as all times of the store are."""
    return moment.replace(tzinfo=UTC) if moment is not None and moment.tzinfo is None else moment
