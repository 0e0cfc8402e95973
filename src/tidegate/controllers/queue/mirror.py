"""The queue's table, kept as the store tells it, so that a pass over a large queue need not read it all again."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tidegate.decide.queue.figures import BackupFigures
from tidegate.decide.queue.table import QueueTable
from tidegate.decide.restores.queue import RestoreTable
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.setting import Setting
from tidegate.model.stores.target import BackupTarget
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.ports.resource_store import Change, Event, Page, ResourceStore


class QueueMirror:
    """A table that lags behind the store by the news under way, and knows which of its owner's writes it has not seen.

    Only the queue gives slots away. So as long as it plans only when all its own writes have come back as news, what
    the table does not know yet is that a slot became free or that somebody new came: never that one was taken.

    Backups and restores keep namespaces from each other, so their queues plan one after the other, never at once, and
    each sees what the other has let start.
    """

    def __init__(self) -> None:
        self.table = QueueTable()
        self.restores = RestoreTable()
        self.figures = BackupFigures()
        self.decisions: Counter[str] = Counter()
        """What the queue decided since the server began, by outcome."""
        self.reloads = 0
        """How often everything was read anew: whatever was remembered before that may have missed news."""
        self.news_around = 0
        """Changes whenever something may have changed that is not in the queue but matters to it."""
        self._planning = asyncio.Lock()
        # Both by version, which no store gives out twice: a namesake that comes later cannot be taken for the first.
        self._own_writes: set[str] = set()
        self._heard_in_this_pass: set[str] = set()

    @property
    def up_to_date(self) -> bool:
        """Whether every write of the queue itself has come back."""
        return not self._own_writes

    @asynccontextmanager
    async def one_pass(self) -> AsyncIterator[QueueTable]:
        """For a pass of the queue. Meanwhile nothing is read anew: neither may see half of the other."""
        async with self._planning:
            self._heard_in_this_pass.clear()
            yield self.table

    async def reload(self, store: ResourceStore) -> Page[Backup]:
        """Read everything; the page says from where to watch."""
        async with self._planning:
            page = await store.list(Backup)
            self.restores.replace_all((await store.list(Restore)).items)
            self.table.replace_all(page.items)
            self.figures.replace_all(page.items)
            self._own_writes.clear()
            self.reloads += 1
            self.news_around += 1
            return page

    def hear(self, event: Event) -> None:
        """News from the watch, in order."""
        backup = event.resource
        if isinstance(backup, (BackupTarget, Namespace, Setting, Volume)):
            self.news_around += 1
        if isinstance(backup, Restore):
            self._hear_of_restore(backup, event.change)
        if not isinstance(backup, Backup):
            return
        if event.change is Change.DELETED:
            self.table.forget(backup.name)
            self.figures.forget(backup.name)
            return
        self.table.note(backup)
        self.figures.note(backup)
        self._own_writes.discard(backup.metadata.resource_version)
        if self._planning.locked():
            self._heard_in_this_pass.add(backup.metadata.resource_version)

    def _hear_of_restore(self, restore: Restore, change: Change) -> None:
        if change is Change.DELETED:
            self.restores.forget(restore)
        else:
            self.restores.note(restore)

    def wrote(self, before: Resource, after: Resource) -> None:
        """The queue has written this; a write that changed nothing makes no news."""
        version = after.metadata.resource_version
        # The news of a write may come before its answer does.
        if version != before.metadata.resource_version and version not in self._heard_in_this_pass:
            self._own_writes.add(version)
