"""A reader over any store of a test, that counts what it is asked and fails where it is told to."""

import asyncio
from typing import TYPE_CHECKING

from tidegate.objects.reading import ReadsParts
from tidegate.ports.object_store import Listing
from tidegate.ports.store_reader import Part

if TYPE_CHECKING:
    from collections.abc import Callable


class CountingReader:
    """Keeps the StoreReader's promise on the loop of the test; `trouble` sees every question first and may raise."""

    def __init__(self, store: ReadsParts, *, in_flight: int = 8) -> None:
        self._store = store
        self._in_flight = in_flight
        self.asked: list[tuple[str, str]] = []
        self.bytes_read = 0
        self.trouble: Callable[[str, str], None] = lambda _verb, _key: None

    @property
    def requests_in_flight(self) -> int:
        """See StoreReader."""
        return self._in_flight

    async def anew(self) -> "CountingReader":
        """See StoreReader."""
        return self

    async def list_level(self, prefix: str) -> Listing:
        """See StoreReader."""
        await self._meet("list", prefix)
        return self._store.list_level(prefix)

    async def read_part(self, key: str, *, start: int, length: int) -> Part:
        """See StoreReader."""
        await self._meet("read", key)
        body, info = self._store.get_part(key, start=start, length=length)
        self.bytes_read += len(body)
        return Part(body, info)

    async def read_start(self, key: str, *, length: int) -> bytes:
        """See StoreReader."""
        return (await self.read_part(key, start=0, length=length)).body

    def cfgs_read(self) -> list[str]:
        """The keys of all cfgs that were read, each as often as it was."""
        return [key for verb, key in self.asked if verb == "read" and key.endswith(".cfg")]

    async def _meet(self, verb: str, key: str) -> None:
        self.asked.append((verb, key))
        await asyncio.sleep(0)  # others get their turn, as they would on a line
        self.trouble(verb, key)
