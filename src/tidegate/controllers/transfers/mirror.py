"""The table of the gates, kept as the store tells it, so that a pass over many need not read them all again."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from tidegate.decide.transfers.figures import TransferFigures
from tidegate.decide.transfers.table import TransferTable
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import TRANSFERS, Transfer
from tidegate.ports.resource_store import Change, Event, Page, ResourceStore


class TransferMirror:
    """A table that knows every write of its owner at once, and all others as soon as their news come.

    Only the gates give slots and places away. So what the table does not know yet is that one became free, or that
    somebody new came: never that one was taken. News arrive in the order of their versions; what is older than what
    the table already knows is passed over, or it would take the table back.
    """

    def __init__(self) -> None:
        self.table = TransferTable()
        self.figures = TransferFigures()
        """Counts all that are stored, as the news tell."""
        self.has_news = False
        """Whether anything changed, since the last pass began, that a plan could depend on."""
        self._planning = asyncio.Lock()
        self._complete = asyncio.Event()
        self._listed: dict[str, int] = {}
        self._known: dict[Ref, int] = {}
        """Versions of the owner's own writes whose news have not come yet."""
        self._heard = 0
        self._unsure: set[Ref] = set()

    @asynccontextmanager
    async def one_pass(self) -> AsyncIterator[TransferTable]:
        """For a pass of the gates. It begins when every kind was read once: half of the truth counts too little.

        Meanwhile nothing is read anew: neither may see half of the other.
        """
        await self._complete.wait()
        async with self._planning:
            self.has_news = False
            yield self.table

    async def reload(self, store: ResourceStore, kind: type[Transfer]) -> Page[Transfer]:
        """Read all of one kind; the page says from where to watch."""
        async with self._planning:
            page: Page[Transfer] = await store.list(kind)
            name, version = kind_name(kind), int(page.resource_version)
            self.table.replace_all(name, page.items)
            self.figures.replace_all(name, page.items)
            self._listed[name] = version
            self._known = {ref: own for ref, own in self._known.items() if ref.kind != name or own > version}
            self.has_news = True
        if len(self._listed) == len(TRANSFERS):
            self._complete.set()
        return page

    def hear(self, event: Event) -> None:
        """News from the watch, in order."""
        self._heard = version = int(event.resource_version)
        transfer = event.resource
        if not isinstance(transfer, Transfer) or version <= self._listed.get(transfer.kind, 0):
            return
        if event.change is Change.DELETED:
            self.figures.forget(transfer.ref)
        else:
            self.figures.note(transfer)
        if version < self._known.get(transfer.ref, 0):
            return
        self._known.pop(transfer.ref, None)
        changed = self.table.forget(transfer.ref) if event.change is Change.DELETED else self.table.note(transfer)
        self.has_news |= changed

    def wrote(self, answer: Transfer) -> None:
        """The owner has written this. If its news came before the answer, the table may know even more by now."""
        version = int(answer.metadata.resource_version)
        if version > self._heard:
            self._known[answer.ref] = version
            self.table.note(answer)

    def lost(self, ref: Ref) -> None:
        """Nobody knows whether the owner's last write of this one was done."""
        self._unsure.add(ref)

    def unsure(self) -> list[Ref]:
        """Those to look at before the next plan."""
        return sorted(self._unsure)

    def looked_at(self, ref: Ref, found: Transfer | None) -> None:
        """This is what is stored; None: it is gone."""
        self._unsure.discard(ref)
        if found is not None:
            self.wrote(found)
        else:
            self.table.forget(ref)
