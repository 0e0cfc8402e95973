"""Resources as rows: what a write looks up, and how its effects are carried out."""

import sqlite3
from collections.abc import Iterable
from functools import lru_cache

from pydantic import ValidationError

from tidegate.errors import DamagedMetadata
from tidegate.model.kinds import KIND_BY_NAME
from tidegate.model.resource import Ref, Resource
from tidegate.ports.resource_store import Change
from tidegate.resources.sqlite.schema import WAY_BACK
from tidegate.resources.writes import Effect

# Together at most some 50 MiB, and a tenth of that as a rule.
_MOST_REMEMBERED = 2048
_LONGEST_REMEMBERED = 16 * 1024


class SqliteRows:
    """Keeps the promise of `writes.Rows` inside the transaction that its connection is in."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def find(self, ref: Ref) -> Resource | None:
        """See Rows."""
        row = self._connection.execute(
            "SELECT body FROM resources WHERE kind = ? AND namespace = ? AND name = ?",
            (ref.kind, ref.namespace, ref.name),
        ).fetchone()
        return None if row is None else decode(ref.kind, row[0], self._connection)

    def dependents(self, uid: str) -> Iterable[Resource]:
        """See Rows."""
        rows = self._connection.execute(
            "SELECT kind, body FROM owners JOIN resources USING (kind, namespace, name)"
            " WHERE owner_uid = ? ORDER BY kind, name, namespace",
            (uid,),
        )
        return [decode(kind, body, self._connection) for kind, body in rows.fetchall()]

    def lives(self, uid: str) -> bool:
        """See Rows."""
        return self._connection.execute("SELECT 1 FROM resources WHERE uid = ?", (uid,)).fetchone() is not None

    def apply(self, effect: Effect) -> None:
        """Carry out one change, the indexes of labels and owners included."""
        resource = effect.event.resource
        place = (resource.kind, resource.namespace, resource.name)
        match effect.event.change:
            case Change.ADDED:
                self._connection.execute(
                    "INSERT INTO resources VALUES (?, ?, ?, ?, ?)", (*place, resource.metadata.uid, resource.to_json())
                )
            case Change.MODIFIED:
                self._connection.execute(
                    "UPDATE resources SET body = ? WHERE kind = ? AND namespace = ? AND name = ?",
                    (resource.to_json(), *place),
                )
            case Change.DELETED:
                self._connection.execute("DELETE FROM resources WHERE kind = ? AND namespace = ? AND name = ?", place)
        self._index_labels(effect)
        self._index_owners(effect)

    def _index_labels(self, effect: Effect) -> None:
        resource = effect.event.resource
        place = (resource.kind, resource.namespace, resource.name)
        before = effect.before.metadata.labels if effect.before else {}
        after = resource.metadata.labels if effect.event.change is not Change.DELETED else {}
        if before == after:
            return
        self._connection.execute("DELETE FROM labels WHERE kind = ? AND namespace = ? AND name = ?", place)
        self._connection.executemany(
            "INSERT INTO labels VALUES (?, ?, ?, ?, ?)", [(*place, key, value) for key, value in after.items()]
        )

    def _index_owners(self, effect: Effect) -> None:
        resource = effect.event.resource
        place = (resource.kind, resource.namespace, resource.name)
        before = effect.before.metadata.owner_references if effect.before else ()
        after = resource.metadata.owner_references if effect.event.change is not Change.DELETED else ()
        if before == after:
            return
        self._connection.executemany(
            "DELETE FROM owners WHERE owner_uid = ? AND kind = ? AND namespace = ? AND name = ?",
            [(owner.uid, *place) for owner in before],
        )
        self._connection.executemany(
            "INSERT OR IGNORE INTO owners (owner_uid, kind, namespace, name) VALUES (?, ?, ?, ?)",
            [(owner.uid, *place) for owner in after],
        )


def decode(kind: str, body: str, connection: sqlite3.Connection) -> Resource:
    """The resource that was stored; raises DamagedMetadata that names it if it is none of ours.

    Known by its very text: the same text is the same resource, which nobody can change, so what is remembered is never
    old. A list in which little has changed since the last one costs little.
    """
    try:
        return _remembered(kind, body) if len(body) <= _LONGEST_REMEMBERED else _decoded(kind, body)
    except (KeyError, TypeError, ValidationError) as error:
        where = connection.execute("SELECT namespace, name FROM resources WHERE kind = ? AND body IS ?", (kind, body))
        name = "/".join(str(part) for part in where.fetchone() or () if part)
        raise DamagedMetadata(
            f"{kind} {name!r} is damaged in the server's database: {_what_is_wrong(error)}", hint=WAY_BACK
        ) from error


def _what_is_wrong(error: Exception) -> str:
    if not isinstance(error, ValidationError):
        return f"{type(error).__name__}: {error}"
    first = error.errors(include_url=False)[0]
    return f"{'.'.join(str(part) for part in first['loc'])}: {first['msg']}".removeprefix(": ")


def _decoded(kind: str, body: str) -> Resource:
    return KIND_BY_NAME[kind].model_validate_json(body)


_remembered = lru_cache(maxsize=_MOST_REMEMBERED)(_decoded)
