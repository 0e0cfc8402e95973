"""The queue's table, kept as the store tells it, so that a pass over a large queue need not read it all again."""

import asyncio

from tidegate.decide.queue_table import QueueTable
from tidegate.model.backup import Backup
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Change, Event, Page, ResourceStore


class QueueMirror:
    """A table that lags behind the store by the news under way, and knows which of its owner's writes it has not seen.

    Only the queue gives slots away. So as long as it plans only when all its own writes have come back as news, what
    the table does not know yet is that a slot became free or that somebody new came: never that one was taken.
    """

    def __init__(self) -> None:
        self.table = QueueTable()
        self.planning = asyncio.Lock()
        """Held by a pass of the queue, and while everything is read anew: neither may see half of the other."""
        self._own_writes: dict[str, str] = {}
        self._last_heard: dict[str, str] = {}

    @property
    def up_to_date(self) -> bool:
        """Whether every write of the queue itself has come back."""
        return not self._own_writes

    async def reload(self, store: ResourceStore) -> Page[Backup]:
        """Read everything; the page says from where to watch."""
        async with self.planning:
            page = await store.list(Backup)
            self.table.replace_all(page.items)
            self._own_writes.clear()
            return page

    def hear(self, event: Event) -> None:
        """News from the watch, in order."""
        backup = event.resource
        if not isinstance(backup, Backup):
            return
        if event.change is Change.DELETED:
            self.table.forget(backup.name)
            self._own_writes.pop(backup.name, None)
            self._last_heard.pop(backup.name, None)
            return
        self.table.note(backup)
        self._last_heard[backup.name] = backup.metadata.resource_version
        if self._own_writes.get(backup.name) == backup.metadata.resource_version:
            del self._own_writes[backup.name]

    def wrote(self, before: Resource, after: Resource) -> None:
        """The queue has written this; a write that changed nothing makes no news."""
        version = after.metadata.resource_version
        # The news may be faster than the answer to the write; then there is nothing left to wait for.
        if before.metadata.resource_version != version and int(self._last_heard.get(after.name, "0")) < int(version):
            self._own_writes[after.name] = after.metadata.resource_version
