"""Rows and the queue that tells their places, from one version of the state.

Rows come from the store, places from a table that the server keeps: the news between the two would leave holes, and
rows that wait nowhere. A whole list is a table of its own; part of a list is brought to where the table is.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from tidegate.errors import NotFound
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import ResourceStore

R = TypeVar("R", bound=Resource)
# News reach the table within a few turns of the event loop; where they take longer, the store tells.
_TURNS = 50


class Table(Protocol[R]):  # type: ignore[misc]  # only taken in
    """A queue that can be made from all resources of its kind."""

    def replace_all(self, resources: Iterable[R], /) -> None:
        """These are all that exist."""
        ...


T = TypeVar("T", bound=Table)  # type: ignore[type-arg]  # of the line's kind


@dataclass(frozen=True)
class Line(Generic[R, T]):
    """A kind whose resources wait in a queue."""

    kind: type[R]
    empty: Callable[[], T]
    kept: T | None
    """The server's own table, if there is one."""
    waits: Callable[[R], bool]
    """Whether a stored resource has a place."""
    places: Callable[[T, R], bool]
    """Whether the table gives it one."""


async def one_look(store: ResourceStore, line: Line[R, T], rows: Sequence[R], *, whole: bool) -> tuple[list[R], T]:
    """The rows, and a table in which each that waits has its place. Good until the next wait of the caller.

    With `whole`, the rows are all that exist. Otherwise those that went on meanwhile are shown as they are now, and
    those that are gone are left out.
    """
    if whole:
        return list(rows), _table(line, rows)
    found: dict[str, R] = {row.metadata.uid: row for row in rows}
    for _ in range(_TURNS if line.kept is not None else 0):
        assert line.kept is not None  # noqa: S101  # see the range
        apart = [row for row in found.values() if line.waits(row) and not line.places(line.kept, row)]
        if not apart:
            return list(found.values()), line.kept
        await asyncio.sleep(0)
        for row in apart:
            if (now := await _now(store, row)) is not None:
                found[row.metadata.uid] = now  # in its old place
            else:
                del found[row.metadata.uid]
    everything = (await store.list(line.kind)).items
    return [row for row in everything if row.metadata.uid in found], _table(line, everything)


def _table(line: Line[R, T], rows: Iterable[R]) -> T:
    table = line.empty()
    table.replace_all(rows)
    return table


async def _now(store: ResourceStore, row: R) -> R | None:
    try:
        now = await store.get(type(row), row.name, row.namespace)
    except NotFound:
        return None
    return now if now.metadata.uid == row.metadata.uid else None
