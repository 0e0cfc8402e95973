"""A bell: whoever waits hears the next ring, and nobody has to be asked again and again."""

import asyncio


class Bell:
    """Belongs to one event loop."""

    def __init__(self) -> None:
        self._next = asyncio.Event()

    def ring(self) -> None:
        """All who wait now go on; who comes later waits for the next one."""
        self._next.set()
        self._next = asyncio.Event()

    @property
    def next_ring(self) -> asyncio.Event:
        """Set by the next ring, also if that comes before anybody waits: take it first, then look, then wait."""
        return self._next
