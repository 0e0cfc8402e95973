"""Changes of places in the queue, for one watcher: no place is stored, so no change of a backup tells of them.

When one leaves the queue, all behind it move. That would be a write for each; instead each watcher is told of those
whose place, or the reason of whose wait, is another one than it was told last.
"""

from collections.abc import Mapping
from typing import NamedTuple

from tidegate.api.reads.queue_looks import surroundings_now
from tidegate.api.reads.queue_places import explained, is_queued
from tidegate.api.services import Services
from tidegate.decide.queue.standing import Standing, standings
from tidegate.errors import NotFound
from tidegate.model.backups.backup import Backup
from tidegate.state.queue import QueueTable

# So many are looked at, and so many told, at once: a watcher of a long queue hears of the others the next times.
_LOOKED_AT = 1000
_TOLD_AT_ONCE = 50


class _Told(NamedTuple):
    place: int = 0
    """0: the watcher may know any."""
    why: tuple[str, str] | None = None
    """Reason and message; None: whatever the watcher's own list says."""
    version: str = ""
    """What the stream sent of the backup last; empty before it sent anything."""

    @classmethod
    def of(cls, backup: Backup) -> "_Told":
        waits = backup.status.condition("Waiting")
        why = (waits.reason, waits.message) if waits else ("", "")
        return cls(backup.status.queue_position or 0, why, backup.metadata.resource_version)


def _same(known: _Told, place: int, why: tuple[str, str] | None) -> bool:
    return known.place == place and (known.why is None or why is None or known.why == why)


class PlacesTold:
    """What one watcher knows of the queue."""

    def __init__(self, services: Services, table: QueueTable, *, known: bool) -> None:
        """`known` says that the watcher's own list has the places of today."""
        self._services = services
        self._table = table
        self._at = 0
        names = (name for _, _, name in table.places())
        self._told = {name: _Told(place if known else 0) for place, name in enumerate(names, start=1)}
        self._moves_seen = table.moves if known else -1

    @property
    def moved(self) -> bool:
        """Whether anybody may stand elsewhere since the last look."""
        return self._table.moves != self._moves_seen

    def sent(self, backup: Backup, *, gone: bool) -> None:
        """The watcher gets this change of a backup."""
        if gone or not is_queued(backup):
            self._told.pop(backup.name, None)
        else:
            self._told[backup.name] = _Told.of(backup)

    async def news(self) -> list[Backup]:
        """Those to be sent now, nearest the head first; none whose own change is still on its way to the watcher."""
        around, settings = await surroundings_now(self._services)
        table, limit, clock = self._table, settings.concurrent_backups, self._services.clock
        self._moves_seen, snapshot = table.moves, table.snapshot(around)
        names = [name for _, _, name in table.places()[self._at : self._at + _LOOKED_AT]]
        if len(table.places()) > _LOOKED_AT and len(snapshot.running) < limit:
            # While a slot is free, reasons take a pass over all that wait: the stored ones do.
            places = {name: Standing(place, None) for place, name in enumerate(names, start=self._at + 1)}
        else:
            places = standings(table, snapshot, names, limit=limit, now=clock.now())
        return await self._read(places, more=self._at + _LOOKED_AT < len(table.places()))

    async def _read(self, places: Mapping[str, Standing], *, more: bool) -> list[Backup]:
        news: list[Backup] = []
        unheard = False
        for name, standing in places.items():
            why = (str(standing.obstacle.reason), standing.obstacle.message) if standing.obstacle else None
            known = self._told.get(name)
            if known is None:
                # It came to the queue after the stream began: its own change is under way, or the next look sends it.
                self._told[name] = _Told()
                unheard = True
                continue
            if _same(known, standing.position, why):
                continue
            if len(news) == _TOLD_AT_ONCE:
                self._moves_seen = -1  # not all were told
                return news
            backup = await self._stored(name)
            if backup is None or not is_queued(backup) or known.version not in {"", backup.metadata.resource_version}:
                continue  # its own change is under way
            self._told[name] = _Told(standing.position, why, backup.metadata.resource_version)
            news.append(explained(backup, standing))
        self._at = self._at + _LOOKED_AT if more else 0
        self._moves_seen = -1 if more or unheard else self._moves_seen
        return news

    async def _stored(self, name: str) -> Backup | None:
        try:
            return await self._services.store.get(Backup, name)
        except NotFound:
            return None
