"""Looks into file trees that stores hold, for whoever serves many people at once."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from tidegate.errors import StoreUnavailable
from tidegate.format.trees.entry import TreeEntry
from tidegate.model.transfers.mover_job import TargetAccess


class TreePlace(NamedTuple):
    """One volume backup in one store. What is at such a place never changes."""

    access: TargetAccess
    store_volume: str
    store_backup: str


@dataclass(frozen=True)
class DirectoryPage:
    """A part of a directory."""

    entries: tuple[TreeEntry, ...]
    next: str | None
    """The marker of the following page; none on the last."""


class OpenedFile(Protocol):
    """One file that is being read. Whoever opened it closes it, whatever happens."""

    @property
    def entry(self) -> TreeEntry:
        """What it is."""
        ...

    @property
    def part(self) -> range | None:
        """Which of its bytes are read; None: all."""
        ...

    def __iter__(self) -> Iterator[bytes]:
        """Its bytes in pieces, each read when it is asked for, in the thread that asks; may raise DamageError."""
        ...

    def close(self) -> None:
        """Let go of it; returns at once, also twice."""
        ...


ChosenPart = Callable[[int], range | None]


def whole_file(_size: int) -> range | None:
    """All of its bytes."""
    return None


class StoredTrees(Protocol):
    """Trees in stores.

    Every method raises NotFound if the store says that there is no such backup or path, Refused if it is not of the
    right kind, WrongKey for what is encrypted with another key, DamageError for what cannot be read, and
    StoreUnavailable when the store did not answer, or not in time.
    """

    async def directory(self, place: TreePlace, path: str, *, marker: str, limit: int) -> DirectoryPage:
        """What lies right in this directory: directories first, by name. An empty marker asks for the first page."""
        ...

    async def open_file(self, place: TreePlace, path: str, *, part: ChosenPart = whole_file) -> OpenedFile:
        """One file, its first bytes read already: a block that is damaged there is told here.

        `part` is given the file's size and says which bytes to read. Raises StoreBusy if too many are being read.
        """
        ...


class NoTrees:
    """Sees none: for whoever has no stores."""

    async def directory(self, place: TreePlace, path: str, *, marker: str, limit: int) -> DirectoryPage:  # noqa: ARG002  # a promise
        """See StoredTrees."""
        raise StoreUnavailable(f"{place.access.url} is out of reach here")

    async def open_file(
        self,
        place: TreePlace,
        path: str,  # noqa: ARG002  # a promise
        *,
        part: ChosenPart = whole_file,  # noqa: ARG002
    ) -> OpenedFile:
        """See StoredTrees."""
        raise StoreUnavailable(f"{place.access.url} is out of reach here")
