"""Lists and selectors as SQL."""

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass

from tidegate.model.labels import Operator, Requirement, Selector
from tidegate.model.resource import Resource
from tidegate.ports.resource_store import Page
from tidegate.resources.sqlite.rows import decode
from tidegate.resources.sqlite.schema import read_last_version
from tidegate.state.paging import PlaceInList

_ALL = "FROM resources AS place WHERE true"
# CROSS keeps the order of the tables: labels_by_value gives few of many, and already in the order of the list.
_LABELLED = "FROM labels AS place CROSS JOIN resources USING (kind, namespace, name) WHERE place.key = ?"
_HAS_LABEL = (
    "EXISTS (SELECT 1 FROM labels WHERE labels.kind = place.kind AND labels.namespace = place.namespace"
    " AND labels.name = place.name AND labels.key = ?"
)


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
        bodies = connection.execute(*self._sql()).fetchall()
        items = tuple(decode(self.kind, body, connection) for (body,) in bodies[: self.limit])
        marker = PlaceInList(items[-1].namespace, items[-1].name).to_marker() if len(bodies) > len(items) else None
        return Page(items, resource_version=str(version), marker=marker)

    def _sql(self) -> tuple[str, Sequence[object]]:
        """Asks for one more than `limit`, so that the last page knows that it is the last."""
        leading = next((r for r in self.selector.requirements if r.operator is Operator.IN), None)
        terms, values = _leading_term(leading) if leading else (_ALL, [])
        for requirement in self.selector.requirements:
            if requirement is not leading:
                terms += f" AND {_term(requirement)}"
                values += [requirement.key, *requirement.values]
        terms += " AND place.kind = ? AND (place.namespace, place.name) > (?, ?)"
        values += [self.kind, *self.behind]
        if self.namespace is not None:
            terms += " AND place.namespace = ?"
            values.append(self.namespace)
        values.append(-1 if self.limit is None else self.limit + 1)
        # Only words of this file and question marks; what a caller gave is in `values`.
        return f"SELECT body {terms} ORDER BY place.namespace, place.name LIMIT ?", values


def _leading_term(requirement: Requirement) -> tuple[str, list[object]]:
    return f"{_LABELLED} AND place.value IN ({_marks(requirement)})", [requirement.key, *requirement.values]


def _term(requirement: Requirement) -> str:
    match requirement.operator:
        case Operator.IN:
            return f"{_HAS_LABEL} AND labels.value IN ({_marks(requirement)}))"
        case Operator.NOT_IN:
            return f"NOT {_HAS_LABEL} AND labels.value IN ({_marks(requirement)}))"
        case Operator.EXISTS:
            return f"{_HAS_LABEL})"
        case Operator.NOT_EXISTS:
            return f"NOT {_HAS_LABEL})"


def _marks(requirement: Requirement) -> str:
    return ", ".join("?" * len(requirement.values))
