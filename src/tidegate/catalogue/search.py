"""Finding pages and counts, each by the way that stays short: never over all backups, never by OFFSET."""

import heapq
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

from tidegate.catalogue.conditions import Condition, group_condition, label_condition, row_condition
from tidegate.catalogue.rows import BACKUP_COLUMNS, BACKUP_TABLES, STATES, VOLUME_COLUMNS, backup_of, volume_of
from tidegate.errors import InvalidInput
from tidegate.model.catalogue import (
    BackupState,
    CatalogueBackup,
    CatalogueCounts,
    CatalogueFilter,
    CataloguePage,
    CatalogueVolume,
)

_GROUPS = "groups g JOIN volumes v ON v.id = g.volume_id AND v.hidden = 0 JOIN targets t ON t.id = v.target_id"
# Up to so many groups, or sets of labels, each is asked for its newest; beyond, they are met often enough on the way.
_FEW = 2_000
_FIRST_CHUNK, _CHUNK = 8, 64
_END = (1 << 62, 1 << 62)
_LONGEST_MARKER = 300
_LARGEST_NUMBER = (1 << 63) - 1

Key = tuple[int, int]


def find_backups(
    connection: sqlite3.Connection, wanted: CatalogueFilter, *, limit: int, marker: str
) -> CataloguePage[CatalogueBackup]:
    """Newest first."""
    groups, labels, rows = group_condition(wanted), label_condition(wanted), row_condition(wanted)
    before = _read_key(marker) if marker else _END
    wish = _Wish(labels, rows, before, limit + 1)
    keys = list(islice(_keys(connection, groups, wish), limit + 1))
    found: dict[int, CatalogueBackup] = {}
    for chunk in (keys[start : start + 500] for start in range(0, min(len(keys), limit), 500)):
        marks = ",".join(str(number) for _, number in chunk)
        sql = f"SELECT {BACKUP_COLUMNS} FROM {BACKUP_TABLES} WHERE b.id IN ({marks})"
        found.update((row[0], backup_of(row)) for row in connection.execute(sql))
    items = tuple(found[number] for _, number in keys[:limit] if number in found)
    return CataloguePage(items, _marker(keys[limit - 1]) if len(keys) > limit else "")


@dataclass(frozen=True)
class _Wish:
    """What each backup of a page must be, and where the page begins and ends."""

    labels: Condition
    rows: Condition
    before: Key
    limit: int

    @property
    def rest(self) -> Condition:
        return self.labels.and_(self.rows)


def _keys(connection: sqlite3.Connection, groups: Condition, wish: _Wish) -> Iterator[Key]:
    """(created, id) of what matches, newest first."""
    if groups:
        numbers = _numbers(connection, f"SELECT g.id FROM {_GROUPS} WHERE {groups.sql}", groups.values)
        if numbers is not None:
            return _merged(connection, "b.group_id", numbers, wish)
        inside = Condition(f"b.group_id IN (SELECT g.id FROM {_GROUPS} WHERE {groups.sql})", groups.values)
        return _walk(connection, inside.and_(wish.rest), wish.before, wish.limit)
    if wish.labels:
        sets = _numbers(connection, *_sets(wish.labels))
        if sets is not None:
            return _merged(connection, "b.label_set_id", sets, replace(wish, labels=Condition()))
    return _walk(connection, wish.rest, wish.before, wish.limit)


def _sets(labels: Condition) -> tuple[str, tuple[object, ...]]:
    """The sets that have these labels; from the first label's own sets, of which the others are asked."""
    first, _, others = labels.sql.partition(" AND EXISTS")
    sql = f"SELECT DISTINCT s.set_id FROM label_members s WHERE s.label_id IN {_inner(first)}"
    if others:
        sql += " AND EXISTS" + others.replace("b.label_set_id", "s.set_id")
    return sql, labels.values


def _inner(sql: str) -> str:
    """The labels that a condition about one label speaks of."""
    return sql[sql.index("(SELECT id FROM labels") : -1]


def _numbers(connection: sqlite3.Connection, sql: str, values: tuple[object, ...]) -> list[int] | None:
    """The numbers, or None if there are many."""
    rows = connection.execute(f"{sql} LIMIT {_FEW + 1}", values).fetchall()
    return [int(number) for (number,) in rows] if len(rows) <= _FEW else None


def _walk(connection: sqlite3.Connection, condition: Condition, before: Key, limit: int) -> Iterator[Key]:
    extra = f"AND {condition.sql}" if condition else ""
    rows = connection.execute(
        f"SELECT b.created, b.id FROM backups b WHERE b.hidden = 0 AND (b.created, b.id) < (?, ?) {extra} "
        "ORDER BY b.created DESC, b.id DESC LIMIT ?",
        (*before, *condition.values, limit),
    )
    yield from rows


def _merged(connection: sqlite3.Connection, column: str, numbers: list[int], wish: _Wish) -> Iterator[Key]:
    """What the newest `limit` are can only come from the `limit` places whose own newest are the newest."""
    condition, before = wish.rest, wish.before
    extra = f"AND {condition.sql}" if condition else ""
    newest = (
        f"SELECT printf('%012d%012d', b.created, b.id) FROM backups b WHERE b.hidden = 0 AND {column} = n.value "
        f"AND (b.created, b.id) < (?, ?) {extra} ORDER BY b.created DESC, b.id DESC LIMIT 1"
    )
    heads = connection.execute(
        f"SELECT value FROM (SELECT n.value AS value, ({newest}) AS head FROM json_each(?) n) "
        "WHERE head IS NOT NULL ORDER BY head DESC LIMIT ?",
        (*before, *condition.values, json.dumps(numbers), wish.limit),
    ).fetchall()
    ways = [_one_way(connection, column, number, condition, before) for (number,) in heads]
    yield from heapq.merge(*ways, reverse=True)


def _one_way(
    connection: sqlite3.Connection, column: str, number: int, condition: Condition, before: Key
) -> Iterator[Key]:
    inside = Condition(f"{column} = ?", (number,)).and_(condition)
    size = _FIRST_CHUNK
    while True:
        rows = list(_walk(connection, inside, before, size))
        yield from rows
        if len(rows) < size:
            return
        before, size = rows[-1], _CHUNK


def find_volumes(
    connection: sqlite3.Connection, wanted: CatalogueFilter, *, limit: int, marker: str
) -> CataloguePage[CatalogueVolume]:
    """By name, those of one name by target."""
    groups = group_condition(wanted)
    of_backups = label_condition(wanted).and_(row_condition(wanted))
    condition = Condition("v.hidden = 0")
    if marker:
        condition = condition.and_(Condition("(v.name, v.id) > (?, ?)", _read_marker(marker)))
    having = groups.sql or "1"
    if of_backups:
        having += f" AND EXISTS (SELECT 1 FROM backups b WHERE b.hidden = 0 AND b.group_id = g.id AND {of_backups.sql})"
    sql = (
        f"SELECT {VOLUME_COLUMNS} FROM volumes v JOIN targets t ON t.id = v.target_id WHERE {condition.sql} "
        f"AND EXISTS (SELECT 1 FROM groups g WHERE g.volume_id = v.id AND {having}) ORDER BY v.name, v.id LIMIT ?"
    )
    values = (*condition.values, *groups.values, *of_backups.values, limit + 1)
    rows = connection.execute(sql, values).fetchall()
    last = rows[limit - 1] if len(rows) > limit else None
    return CataloguePage(
        tuple(volume_of(row) for row in rows[:limit]), _marker((last[2], last[0])) if last is not None else ""
    )


def count(connection: sqlite3.Connection, wanted: CatalogueFilter) -> CatalogueCounts:
    """Exactly; from the kept counts of groups unless single backups must be asked."""
    groups, labels, rows = group_condition(wanted), label_condition(wanted), row_condition(wanted)
    where = groups.sql or "1"
    if not labels and not rows:
        sql = f"SELECT count(DISTINCT g.volume_id), coalesce(sum(g.backups), 0) FROM {_GROUPS} WHERE {where}"
        return CatalogueCounts(*connection.execute(sql, groups.values).fetchone())
    of_backups = labels.and_(rows)
    volumes = (
        f"SELECT count(DISTINCT g.volume_id) FROM {_GROUPS} WHERE {where} AND EXISTS "
        f"(SELECT 1 FROM backups b WHERE b.hidden = 0 AND b.group_id = g.id AND {of_backups.sql})"
    )
    (found,) = connection.execute(volumes, (*groups.values, *of_backups.values)).fetchone()
    return CatalogueCounts(found, _count_backups(connection, wanted, groups, labels))


def _count_backups(
    connection: sqlite3.Connection, wanted: CatalogueFilter, groups: Condition, labels: Condition
) -> int:
    if wanted.state is BackupState.COMPLETED:
        # Nearly all are; those that are not have an index of their own.
        others = [_count_backups(connection, replace(wanted, state=one), groups, labels) for one in STATES[1:]]
        return _count_backups(connection, replace(wanted, state=None), groups, labels) - sum(others)
    condition = labels.and_(row_condition(wanted)) or Condition("1")
    if groups:
        sql = (
            f"SELECT count(*) FROM {_GROUPS} CROSS JOIN backups b "
            f"WHERE b.group_id = g.id AND b.hidden = 0 AND {groups.sql} AND {condition.sql}"
        )
    else:
        sql = f"SELECT count(*) FROM backups b WHERE b.hidden = 0 AND {condition.sql}"
    (found,) = connection.execute(sql, (*groups.values, *condition.values)).fetchone()
    return int(found)


def _marker(key: tuple[object, int]) -> str:
    return f"{key[1]}:{key[0]}"


def _read_marker(marker: str) -> tuple[str, int]:
    number, separator, value = marker.partition(":")
    if not separator or not number.isdecimal() or len(marker) > _LONGEST_MARKER or int(number) > _LARGEST_NUMBER:
        raise InvalidInput(f"{marker[:80]!r} is not a marker", hint="take the one that came with the last page")
    return value, int(number)


def _read_key(marker: str) -> Key:
    value, number = _read_marker(marker)
    if not value.isdecimal() or int(value) > _LARGEST_NUMBER:
        raise InvalidInput(f"{marker[:80]!r} is not a marker", hint="take the one that came with the last page")
    return int(value), number
