"""The promise of the catalogue: every backup of every target, found at once and without asking a store.

What it says is as old as the last sync of the target, and can always be read anew from the stores.
"""

from collections.abc import Collection
from typing import Protocol

from tidegate.model.stores.catalogue import (
    CatalogueBackup,
    CatalogueCounts,
    CatalogueFilter,
    CataloguePage,
    CatalogueVolume,
    FullSync,
)
from tidegate.model.stores.catalogue_facets import CatalogueFacets
from tidegate.model.stores.catalogue_status import CatalogueDamage

PAGE = 100
LARGEST_PAGE = 1000
MOST_DAMAGE_NAMED = 5
MOST_COUNTED = 3000
"""Where each backup must be asked: as many as one look may take."""


class Catalogue(Protocol):
    """All looks are short whatever the size of the catalogue, and never wait for a sync that writes.

    What somebody asked to be deleted is in no list and no count from that moment on, also after a restart. A marker
    that nobody gave out, or a filter that cannot be one, raises InvalidInput. `skip` begins a page after so many, for a
    scroll bar; with a filter it is bounded, and beyond that raises InvalidInput.
    """

    async def volumes(
        self, wanted: CatalogueFilter, *, limit: int = PAGE, marker: str = "", skip: int = 0
    ) -> CataloguePage[CatalogueVolume]:
        """Volumes by name, in a fixed order within it. State, times and labels ask for at least one such backup."""
        ...

    async def volume(self, target: str, name: str) -> CatalogueVolume:
        """Raises NotFound."""
        ...

    async def backups(
        self, wanted: CatalogueFilter, *, limit: int = PAGE, marker: str = "", skip: int = 0
    ) -> CataloguePage[CatalogueBackup]:
        """Backups, the newest first."""
        ...

    async def backup(self, target: str, volume: str, name: str) -> CatalogueBackup:
        """Raises NotFound."""
        ...

    async def counts(self, wanted: CatalogueFilter, *, most: int = MOST_COUNTED) -> CatalogueCounts:
        """How many volumes and backups match: exactly, but where a label, state or time is asked of each backup."""
        ...

    async def damage(self, target: str, *, most: int = MOST_DAMAGE_NAMED) -> CatalogueDamage:
        """Return how many volumes and backups of a target could not be read; name the first `most` of them."""
        ...

    async def facets(self, wanted: CatalogueFilter) -> CatalogueFacets:
        """By what those that match can be told apart, the most frequent first; says where it did not count all."""
        ...

    async def newest_backups(self, targets: Collection[str], volumes: Collection[str]) -> dict[str, CatalogueBackup]:
        """Return the newest complete backup of each of these volumes that one of the targets holds, by volume name.

        One query, however many volumes. A volume that is absent has no backup only in targets that `full_syncs` names.
        """
        ...

    async def full_syncs(self) -> dict[str, FullSync]:
        """Return the last full sync of each target. A target that is absent has not been read yet: lists lack it."""
        ...

    async def note_full_sync(self, target: str, sync: FullSync) -> None:
        """Record that the whole store has been read. Durable, with all that was read before, when it returns."""
        ...

    async def hide(self, target: str, volume: str, *backups: str) -> None:
        """Somebody wants these deleted, or the whole volume if none is named. Durable when it returns; repeatable."""
        ...

    async def unhide(self, target: str, volume: str, *backups: str) -> None:
        """They shall stay after all, or are gone from the store: the wish is forgotten."""
        ...

    async def hidden(self, target: str) -> list[tuple[str, str]]:
        """(volume, backup) of every wish to delete in this target; an empty backup stands for the whole volume."""
        ...

    async def forget_target(self, target: str) -> None:
        """It is no longer a target: nothing of it is in any list any more. Its store is not touched."""
        ...
