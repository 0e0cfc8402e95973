"""Looking at the load for an answer: every number is counted from what is stored, at the time of the question."""

from collections.abc import Mapping, Sequence

from tidegate.api.services import Services
from tidegate.model.resource import Resource
from tidegate.model.setting import LOAD_CONCURRENCY, Setting, effective_settings
from tidegate.model.transfers.load_status import LoadedNode, LoadStatus
from tidegate.model.transfers.node import Node
from tidegate.views.transfers.load import LoadRow, load_status

NEVER_SET = "0"
"""The version of a configuration that nobody has stored; no stored one has it."""


async def load_now(services: Services, *, instead: Setting | None = None) -> LoadStatus:
    """The load as it is; with `instead`, as it would be under that configuration."""
    store = services.store
    stored = list((await store.list(Setting)).items)
    version = next((one.metadata.resource_version for one in stored if one.name == LOAD_CONCURRENCY.name), NEVER_SET)
    if instead is not None:
        stored = [*(one for one in stored if one.name != instead.name), instead]
    entries, queued = services.state.transfers.entries(), services.state.restores.waiting
    rows = [LoadRow(entry.phase, entry.restore, entry.node, entry.why[0]) for entry in entries]
    nodes, settings = (await store.list(Node)).items, effective_settings(stored)
    return load_status(rows, nodes, settings, version=version, restores_queued=queued)


async def with_load(services: Services, resources: Sequence[Resource]) -> list[Resource]:
    """The same resources; those that are nodes tell what they carry now."""
    loads = {one.name: one for one in (await load_now(services)).nodes}
    return [_loaded(resource, loads) for resource in resources]


def _loaded(resource: Resource, loads: Mapping[str, LoadedNode]) -> Resource:
    found = loads.get(resource.name) if isinstance(resource, Node) else None
    return resource if found is None else resource.with_status(load=found.load)
