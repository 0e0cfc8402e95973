"""Changes that the API makes to a resource while controllers write its status."""

from collections.abc import Callable

from tidegate.errors import StaleVersion
from tidegate.ports.resource_store import R, ResourceStore

_ATTEMPTS = 5


async def changed(store: ResourceStore, kind: type[R], name: str, change: Callable[[R], R]) -> R:
    """Store what `change` makes of the resource; try again with the newest one if another writer was faster."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return await store.update(change(await store.get(kind, name)))
        except StaleVersion:
            continue
    return await store.update(change(await store.get(kind, name)))
