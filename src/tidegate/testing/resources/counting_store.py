"""A store of resources that counts what is asked of it."""

import asyncio
from collections import Counter
from typing import Any, TypeVar

from tidegate.model.resource import Ref, Resource
from tidegate.model.transfers.transfer import Transfer
from tidegate.ports.resource_store import Page
from tidegate.resources.memory import MemoryStore

R = TypeVar("R", bound=Resource)


class CountingStore(MemoryStore):
    """`asked` counts by method; lists of transfers, which may be long, also as `list transfers`.

    A write lets others go on before it is done, as with any real store.
    """

    def __init__(self, **given: Any) -> None:  # noqa: ANN401  # as the store in memory has them
        super().__init__(**given)
        self.asked: Counter[str] = Counter()

    @property
    def writes(self) -> int:
        """Changes of what is there already."""
        return self.asked["update"] + self.asked["update_status"] + self.asked["cancel"]

    async def get(self, kind: type[R], name: str, namespace: str = "") -> R:
        """See ResourceStore."""
        self.asked["get"] += 1
        return await super().get(kind, name, namespace)

    async def list(self, kind: type[R], **options: Any) -> Page[R]:  # noqa: ANN401  # as the store has them
        """See ResourceStore."""
        self.asked["list"] += 1
        self.asked["list transfers"] += issubclass(kind, Transfer)
        return await super().list(kind, **options)

    async def update(self, resource: R) -> R:
        """See ResourceStore."""
        self.asked["update"] += 1
        await asyncio.sleep(0)
        return await super().update(resource)

    async def update_status(self, resource: R) -> R:
        """See ResourceStore."""
        self.asked["update_status"] += 1
        await asyncio.sleep(0)
        return await super().update_status(resource)

    async def cancel(self, ref: Ref, *, uid: str | None = None) -> Resource:
        """See ResourceStore."""
        self.asked["cancel"] += 1
        await asyncio.sleep(0)
        return await super().cancel(ref, uid=uid)
