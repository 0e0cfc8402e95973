"""Changes of a target, beside a sync and a look that write into its status all the time."""

from collections.abc import Callable

from tidegate.api.services import Services
from tidegate.errors import StaleVersion
from tidegate.model.stores.target import BackupTarget

_TRIES = 5


async def changed(services: Services, name: str, change: Callable[[BackupTarget], BackupTarget]) -> BackupTarget:
    """Store what `change` makes of the target. Whoever writes in between has it asked again."""
    for _ in range(_TRIES - 1):
        try:
            return await services.store.update(change(await services.store.get(BackupTarget, name)))
        except StaleVersion:
            continue
    return await services.store.update(change(await services.store.get(BackupTarget, name)))
