"""Looks that several reconcilers take. Each raises when the store cannot be read: never empty by failure."""

from tidegate.model.labels import EVERYTHING, Selector
from tidegate.model.resource import Resource
from tidegate.model.setting import Setting, Settings, effective_settings
from tidegate.model.transfers.transfer import TRANSFERS, Transfer
from tidegate.ports.resource_store import R, ResourceStore


async def all_of(store: ResourceStore, kind: type[R], selector: Selector = EVERYTHING) -> list[R]:
    """Every resource of a kind that the selector picks."""
    return list((await store.list(kind, selector=selector)).items)


async def all_transfers(store: ResourceStore, selector: Selector = EVERYTHING) -> list[Transfer]:
    """Transfers of all four kinds."""
    return [transfer for kind in TRANSFERS for transfer in await all_of(store, kind, selector)]


def over_or_deleting(transfer: Resource) -> bool:
    """What whoever asked for a transfer has to know at once; how far it is on its way, the transfer itself tells."""
    return isinstance(transfer, Transfer) and (transfer.status.phase.final or transfer.deleting)


async def settings_now(store: ResourceStore) -> Settings:
    """The settings as they are at this moment; they may change while the server runs."""
    return effective_settings(await all_of(store, Setting))
