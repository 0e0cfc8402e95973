"""Reading beside the writer: a few threads, each with its own connection and its own consistent look."""

import asyncio
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tidegate.model.labels import Operator, Requirement, Selector
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Page
from tidegate.resources.paging import PlaceInList
from tidegate.resources.sqlite.errors import translated
from tidegate.resources.sqlite.rows import decode
from tidegate.resources.sqlite.schema import connect, read_last_version

T = TypeVar("T")

_THREADS = 2


class Reader:
    """Runs looks outside of the event loop. Each begins after it was asked for, so it sees every finished write."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pool = ThreadPoolExecutor(max_workers=_THREADS, thread_name_prefix="resource-reader")
        self._own = threading.local()
        self._connections: list[sqlite3.Connection] = []

    async def look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        """The answer of `at`, all of whose queries see the same state."""
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._look, at)

    def close(self) -> None:
        """Wait for the looks that were begun, then give the connections back."""
        self._pool.shutdown()
        for connection in self._connections:
            connection.close()

    def _look(self, at: Callable[[sqlite3.Connection], T]) -> T:
        with translated(self._path):
            connection = self._connection()
            connection.execute("BEGIN")
            try:
                return at(connection)
            finally:
                connection.execute("COMMIT")

    def _connection(self) -> sqlite3.Connection:
        if not hasattr(self._own, "connection"):
            self._own.connection = connect(self._path)
            self._connections.append(self._own.connection)
        own: sqlite3.Connection = self._own.connection
        return own


@dataclass(frozen=True)
class ListQuery:
    """Which resources of a kind, from which place on."""

    kind: str
    namespace: str | None
    selector: Selector
    behind: PlaceInList
    limit: int | None

    def page(self, connection: sqlite3.Connection) -> Page[Resource]:
        """One consistent look, and the version that it was taken at."""
        version = read_last_version(connection)
        bodies = self._bodies(connection)
        items = tuple(decode(self.kind, body) for body in bodies[: self.limit])
        more = len(bodies) > len(items)
        marker = PlaceInList(items[-1].namespace, items[-1].name).to_marker() if more else None
        return Page(items, resource_version=str(version), marker=marker)

    def _bodies(self, connection: sqlite3.Connection) -> list[str]:
        """One more than `limit` where there is more, so that the last page knows that it is the last."""
        terms = ["kind = ?", "(namespace, name) > (?, ?)"]
        values: list[object] = [self.kind, *self.behind]
        if self.namespace is not None:
            terms.append("namespace = ?")
            values.append(self.namespace)
        for requirement in self.selector.requirements:
            terms.append(_term(requirement))
            values += [self.kind, requirement.key, *requirement.values]
        sql = f"SELECT body FROM resources WHERE {' AND '.join(terms)} ORDER BY namespace, name LIMIT ?"  # noqa: S608  # only our own words and question marks
        rows = connection.execute(sql, (*values, -1 if self.limit is None else self.limit + 1))
        return [body for (body,) in rows]


def _term(requirement: Requirement) -> str:
    """A subquery over labels_by_value rather than a look at each row: few of many is the common case."""
    values = ", ".join("?" * len(requirement.values))
    labelled = "SELECT namespace, name FROM labels WHERE kind = ? AND key = ?"
    match requirement.operator:
        case Operator.IN:
            return f"(namespace, name) IN ({labelled} AND value IN ({values}))"
        case Operator.NOT_IN:
            return f"(namespace, name) NOT IN ({labelled} AND value IN ({values}))"
        case Operator.EXISTS:
            return f"(namespace, name) IN ({labelled})"
        case Operator.NOT_EXISTS:
            return f"(namespace, name) NOT IN ({labelled})"
