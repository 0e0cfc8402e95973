"""What is around the queue, remembered until news of it come: asking the store for it costs more than the answer."""

import asyncio
from collections.abc import Callable
from typing import NamedTuple

from tidegate.decide.queue.surroundings import surroundings_of
from tidegate.decide.queue.table import Surroundings
from tidegate.model.setting import Setting, Settings, effective_settings
from tidegate.model.stores.target import BackupTarget
from tidegate.model.volumes.volume import Namespace, Volume
from tidegate.ports.resource_store import ResourceStore


class Around(NamedTuple):
    """What is not in the queue but matters to it; restores are told by whoever keeps them."""

    surroundings: Surroundings
    settings: Settings


class AroundQueue:
    """The last look, as long as the server has heard of no change since it began."""

    def __init__(self, news: Callable[[], int] | None = None) -> None:
        self._news = news
        self._looking = asyncio.Lock()
        self._last: tuple[int, Around] | None = None

    async def look(self, store: ResourceStore) -> Around:
        """As it is now. Without anybody who counts the news, the store is asked each time."""
        if self._news is None:
            return await _look(store)
        async with self._looking:  # many ask at once, and one look is enough for all
            # Counted before the look: what changes while we look makes this one old.
            news = self._news()
            if self._last is None or self._last[0] != news:
                self._last = news, await _look(store)
            return self._last[1]


async def _look(store: ResourceStore) -> Around:
    settings = effective_settings(list((await store.list(Setting)).items))
    by_volume = settings.overlap_detection == "volume"
    around = surroundings_of(
        settings,
        (await store.list(Namespace)).items,
        (await store.list(BackupTarget)).items,
        (await store.list(Volume)).items if by_volume else (),
    )
    return Around(around, settings)
