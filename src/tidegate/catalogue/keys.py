"""Which backups come next, newest first: each by the way that stays short, never over all backups."""

import heapq
import json
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tidegate.catalogue.conditions import Condition, label_condition, row_condition
from tidegate.errors import InvalidInput
from tidegate.format.cfgs.times import to_seconds
from tidegate.model.stores.catalogue import CatalogueFilter

_GROUPS_OF_VOLUMES = (
    "groups g JOIN volumes v ON v.id = g.volume_id AND v.hidden = 0 JOIN targets t ON t.id = g.target_id"
)
# In this order: there is no index from a target to its groups, and all of them are gone through once.
_GROUPS_OF_TARGETS = "groups g CROSS JOIN targets t ON t.id = g.target_id"
# With a filter at most so many can be skipped: what is passed over has to be looked at.
MOST_SKIPPED = 5_000
# Up to so many groups, or sets of labels, each is asked for its newest; beyond, they are met often enough on the way.
FEW = 2_000
# So many are sorted at once, which is one step that leaves other threads alone; beyond, each group is asked by itself.
SORTED = 20_000
_FIRST_CHUNK, _CHUNK = 8, 64

Key = tuple[int, int]
END: Key = (1 << 62, 1 << 62)


@dataclass(frozen=True)
class Indexed(Condition):
    """About a column that has an index of its own, which SQLite goes by if it can."""

    beside: str = ""
    """The same, but no reason for SQLite to go by that index."""

    @classmethod
    def among(cls, column: str, numbers: Condition) -> "Indexed":
        """The column is one of these numbers, which are a whole SELECT."""
        sql = f"{column} IN ({numbers.sql})"
        return cls(sql, numbers.values, f"+{sql}")

    def and_(self, other: Condition) -> "Indexed":
        """Both."""
        both = super().and_(other)
        parts = (self.beside, other.beside if isinstance(other, Indexed) else other.sql)
        return Indexed(both.sql, both.values, " AND ".join(filter(None, parts)))


@dataclass(frozen=True)
class Wish:
    """What each backup of a page must be, and where the page begins and ends."""

    labels: Condition
    rows: Condition
    before: Key
    limit: int
    sets: Condition
    """The sets that have these labels, as a whole SELECT: one look at them is shorter than one at each backup."""
    tables: str
    """What a condition about the groups of this wish needs. Whether a volume is hidden its backups tell themselves."""

    @property
    def rest(self) -> Condition:
        """All that is asked of the backup itself."""
        return self.labels.and_(self.rows)


def wish_for(wanted: CatalogueFilter, before: Key, limit: int) -> Wish:
    """From a filter. Its `until` becomes the beginning of the walk: SQLite seeks by one bound only."""
    rows = row_condition(replace(wanted, until=None))
    if wanted.until is not None:
        before = min(before, (to_seconds(wanted.until) or 0, 0))
    return Wish(label_condition(wanted), rows, before, limit, _sets(wanted), _tables(wanted))


def _tables(wanted: CatalogueFilter) -> str:
    if wanted.volume:
        return _GROUPS_OF_VOLUMES
    return _GROUPS_OF_TARGETS if wanted.target else "groups g"


def keys(connection: sqlite3.Connection, groups: Condition, wish: Wish) -> Iterator[Key]:
    """(created, id) of what matches, newest first."""
    if groups:
        numbers = _numbers(connection, Condition(f"SELECT g.id FROM {wish.tables} WHERE {groups.sql}", groups.values))
        if numbers is not None and _backups_in(connection, numbers) <= SORTED:
            inner = in_groups(",".join(map(str, numbers))).and_(wish.rest)
            return walk(connection, inner, wish.before, wish.limit)
        if numbers is not None:
            return _merged(connection, "b.group_id", numbers, wish)
        return walk(connection, in_each_group(groups, wish).and_(wish.rest), wish.before, wish.limit)
    if wish.labels:
        sets = _numbers(connection, wish.sets)
        if sets is not None:
            return _merged(connection, "b.label_set_id", sets, replace(wish, labels=Condition()))
    return walk(connection, wish.rest, wish.before, wish.limit)


def keys_after(connection: sqlite3.Connection, groups: Condition, wish: Wish, skip: int) -> Iterator[Key]:
    """The same without the first `skip`, for somebody who moves a scroll bar and has no marker.

    Without a filter the hours are counted, whatever the number; with one, only so many as one look may take.
    """
    if not groups and not wish.rest and wish.before == END:
        return _counted_off(connection, wish.limit, skip)
    check_skip(skip)
    condition = inside(connection, groups, wish.tables).and_(set_condition(wish))
    return walk(connection, condition, wish.before, wish.limit, skip=skip)


def _counted_off(connection: sqlite3.Connection, limit: int, skip: int) -> Iterator[Key]:
    """By the hour in which it is, and in that hour one by one."""
    found = connection.execute(
        "SELECT hour, newer FROM "
        "(SELECT hour, backups, sum(backups) OVER (ORDER BY hour DESC) - backups AS newer FROM hours) "
        "WHERE newer + backups > ? LIMIT 1",
        (skip,),
    ).fetchone()
    if found is None:
        return iter(())
    hour, newer = found
    return walk(connection, Condition(), ((hour + 1) * 3600, 0), limit, skip=skip - newer)


def inside(connection: sqlite3.Connection, groups: Condition, tables: str) -> Condition:
    """The same groups by their numbers, found out once."""
    if not groups:
        return groups
    sql = f"SELECT group_concat(g.id) FROM {tables} WHERE {groups.sql}"
    return in_groups(connection.execute(sql, groups.values).fetchone()[0] or "")


def in_each_group(groups: Condition, wish: Wish) -> Condition:
    """Backups of these groups, each asked when it is met: of many groups that is less than to find out about all."""
    return Condition(f"EXISTS (SELECT 1 FROM {wish.tables} WHERE g.id = b.group_id AND {groups.sql})", groups.values)


def in_groups(numbers: str) -> Indexed:
    """Backups of these groups, which are written with commas."""
    return Indexed.among("b.group_id", Condition("SELECT value FROM json_each(?)", (f"[{numbers}]",)))


def by_time(condition: Condition) -> Condition:
    """The same, but no reason for SQLite to go by another index than that of time: for what it meets often there."""
    return Condition(condition.beside, condition.values) if isinstance(condition, Indexed) else condition


def set_condition(wish: Wish) -> Condition:
    """What is asked of each backup, with the sets of labels found out once: for looks at many."""
    return Indexed.among("b.label_set_id", wish.sets).and_(wish.rows) if wish.labels else wish.rows


def check_skip(skip: int) -> None:
    """Raise InvalidInput if that is more than one look may take."""
    if skip > MOST_SKIPPED:
        raise InvalidInput(
            f"with a filter at most {MOST_SKIPPED} can be skipped, not {skip}",
            field="skip",
            hint="narrow the filter down, for example by a time, or go on with the marker of a page",
        )


def _sets(wanted: CatalogueFilter) -> Condition:
    """A SELECT of the sets that have all labels; from the first label's own sets, of which the others are asked."""
    if not wanted.labels:
        return Condition()
    (key, value), *rest = sorted(wanted.labels.items())
    which = Condition("key = ?", (key,)).and_(Condition("value = ?", (value,)) if value else Condition())
    # Called as a backup is in a condition about labels, so that the others can be asked of a set in the same words.
    of_first = (
        f"SELECT set_id AS label_set_id FROM label_members WHERE label_id IN (SELECT id FROM labels WHERE {which.sql})"
    )
    others = label_condition(replace(wanted, labels=dict(rest)))
    sql = f"SELECT DISTINCT b.label_set_id FROM ({of_first}) b WHERE {others.sql or '1'}"
    return Condition(sql, (*which.values, *others.values))


def _backups_in(connection: sqlite3.Connection, groups: list[int]) -> int:
    (found,) = connection.execute(
        "SELECT coalesce(sum(backups), 0) FROM groups WHERE id IN (SELECT value FROM json_each(?))",
        (json.dumps(groups),),
    ).fetchone()
    return int(found)


def _numbers(connection: sqlite3.Connection, chosen: Condition) -> list[int] | None:
    """The numbers that a SELECT finds, or None if there are many."""
    rows = connection.execute(f"{chosen.sql} LIMIT {FEW + 1}", chosen.values).fetchall()
    return [int(number) for (number,) in rows] if len(rows) <= FEW else None


def walk(
    connection: sqlite3.Connection, condition: Condition, before: Key, limit: int, *, skip: int = 0
) -> Iterator[Key]:
    """All of them by time, leaving out what does not match."""
    extra = f"AND {condition.sql}" if condition else ""
    seek = "" if before == END else "AND (b.created, b.id) < (?, ?)"
    rows = connection.execute(
        f"SELECT b.created, b.id FROM backups b WHERE b.hidden = 0 {seek} {extra} "
        "ORDER BY b.created DESC, b.id DESC LIMIT ? OFFSET ?",
        (*(before if seek else ()), *condition.values, limit, skip),
    )
    yield from rows


def _merged(connection: sqlite3.Connection, column: str, numbers: list[int], wish: Wish) -> Iterator[Key]:
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
        rows = list(walk(connection, inside, before, size))
        yield from rows
        if len(rows) < size:
            return
        before, size = rows[-1], _CHUNK
