"""The promise of what remembers sessions that a logout has ended."""

from datetime import datetime
from typing import Protocol


class EndedSessions(Protocol):
    """Sessions are signed cookies, and a signature stays good after a logout: so each logout is remembered here.

    Looks are answered from memory, because every request of a browser asks. What is on a disk outlives a restart.
    """

    def __contains__(self, session: str) -> bool:
        """Whether this session was ended before its time."""
        ...

    async def end(self, session: str, until: datetime, now: datetime) -> None:
        """End it: at once, and durably on return. May be forgotten after `until`, when it would be over anyway.

        Raises UserError or DamageError if the disk did not take it; the session is over all the same until a restart.
        """
        ...


class SessionsEndedInMemory:
    """Keeps the promise until the process ends, for servers that keep no accounts."""

    def __init__(self) -> None:
        self._ended: dict[str, datetime] = {}

    def __contains__(self, session: str) -> bool:
        """See EndedSessions."""
        return session in self._ended

    async def end(self, session: str, until: datetime, now: datetime) -> None:
        """See EndedSessions."""
        self._ended = {one: end for one, end in self._ended.items() if end > now}
        self._ended[session] = until
