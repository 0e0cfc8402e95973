"""Finding pages and counts, each by the way that stays short: never over all backups."""

import json
import sqlite3
from collections.abc import Collection
from itertools import islice

from tidegate.catalogue.backup_rows import BACKUP_COLUMNS, backups_of
from tidegate.catalogue.conditions import Condition, group_condition, label_condition, row_condition
from tidegate.catalogue.keys import (
    END,
    Key,
    check_skip,
    inside,
    keys,
    keys_after,
    set_condition,
    wish_for,
)
from tidegate.catalogue.rows import VOLUME_COLUMNS, volume_of
from tidegate.errors import InvalidInput
from tidegate.model.stores.catalogue import (
    CatalogueBackup,
    CatalogueCounts,
    CatalogueFilter,
    CataloguePage,
    CatalogueVolume,
)

_LONGEST_MARKER = 300
_LARGEST_NUMBER = (1 << 63) - 1


def find_backups(
    connection: sqlite3.Connection, wanted: CatalogueFilter, *, limit: int, marker: str, skip: int = 0
) -> CataloguePage[CatalogueBackup]:
    """Newest first, from the marker on or without the first `skip`."""
    _check_beginning(marker, skip)
    groups = group_condition(wanted)
    wish = wish_for(wanted, _read_key(marker) if marker else END, limit + 1)
    ways = keys_after(connection, groups, wish, skip) if skip else keys(connection, groups, wish)
    chosen = list(islice(ways, limit + 1))
    found: dict[int, CatalogueBackup] = {}
    for chunk in (chosen[start : start + 500] for start in range(0, min(len(chosen), limit), 500)):
        marks = ",".join(str(number) for _, number in chunk)
        sql = f"SELECT {BACKUP_COLUMNS} FROM backups b WHERE b.id IN ({marks})"
        found.update(backups_of(connection, connection.execute(sql)))
    items = tuple(found[number] for _, number in chosen[:limit] if number in found)
    return CataloguePage(items, _marker(chosen[limit - 1]) if len(chosen) > limit else "")


def find_volumes(
    connection: sqlite3.Connection, wanted: CatalogueFilter, *, limit: int, marker: str, skip: int = 0
) -> CataloguePage[CatalogueVolume]:
    """By name, those of one name by target; from the marker on or without the first `skip`."""
    _check_beginning(marker, skip)
    groups = group_condition(wanted)
    of_backups = label_condition(wanted).and_(row_condition(wanted))
    condition = Condition("v.hidden = 0")
    if marker:
        condition = condition.and_(Condition("(v.name, v.id) > (?, ?)", _read_marker(marker)))
    if groups or of_backups:
        check_skip(skip)
    having = groups.sql or "1"
    if of_backups:
        having += f" AND EXISTS (SELECT 1 FROM backups b WHERE b.hidden = 0 AND b.group_id = g.id AND {of_backups.sql})"
    sql = (
        f"SELECT {VOLUME_COLUMNS} FROM volumes v JOIN targets t ON t.id = v.target_id WHERE {condition.sql} "
        f"AND EXISTS (SELECT 1 FROM groups g WHERE g.volume_id = v.id AND {having}) "
        "ORDER BY v.name, v.id LIMIT ? OFFSET ?"
    )
    values = (*condition.values, *groups.values, *of_backups.values, limit + 1, skip)
    rows = connection.execute(sql, values).fetchall()
    last = rows[limit - 1] if len(rows) > limit else None
    return CataloguePage(
        tuple(volume_of(row) for row in rows[:limit]), _marker((last[2], last[0])) if last is not None else ""
    )


def find_newest(
    connection: sqlite3.Connection, targets: Collection[str], volumes: Collection[str]
) -> dict[str, CatalogueBackup]:
    """The newest complete backup of each of these volumes, by name. Each group of a volume leads to its newest."""
    rows = connection.execute(
        f"SELECT {BACKUP_COLUMNS} FROM backups b WHERE b.id IN ("
        "SELECT (SELECT n.id FROM backups n WHERE n.group_id = g.id AND n.hidden = 0 AND n.state = 0 "
        "ORDER BY n.created DESC, n.id DESC LIMIT 1) "
        "FROM volumes v JOIN targets t ON t.id = v.target_id JOIN groups g ON g.volume_id = v.id "
        "WHERE v.hidden = 0 AND g.hidden = 0 AND t.name IN (SELECT value FROM json_each(?)) "
        "AND v.name IN (SELECT value FROM json_each(?))) ORDER BY b.created, b.id",
        (json.dumps(list(targets)), json.dumps(list(volumes))),
    ).fetchall()
    return {backup.volume: backup for _, backup in backups_of(connection, rows)}


def count(connection: sqlite3.Connection, wanted: CatalogueFilter, *, most: int) -> CatalogueCounts:
    """Exactly from the kept counts of groups; where each backup must be asked, at most so many."""
    groups = group_condition(wanted)
    wish = wish_for(wanted, END, most + 1)
    if wanted == CatalogueFilter():  # what is hidden counts for nothing in its group
        sql = "SELECT (SELECT count(*) FROM volumes WHERE hidden = 0), (SELECT coalesce(sum(backups), 0) FROM groups)"
        return CatalogueCounts(*connection.execute(sql).fetchone())
    if not wish.rest and wish.before == END:
        shown = Condition("g.hidden = 0").and_(groups)
        sql = f"SELECT count(DISTINCT g.volume_id), coalesce(sum(g.backups), 0) FROM {wish.tables} WHERE {shown.sql}"
        return CatalogueCounts(*connection.execute(sql, groups.values).fetchone())
    condition = inside(connection, groups, wish.tables).and_(set_condition(wish))
    volumes, backups = connection.execute(
        "SELECT count(DISTINCT volume_id), count(*) FROM (SELECT b.volume_id FROM backups b "
        f"WHERE b.hidden = 0 AND (b.created, b.id) < (?, ?) AND {condition.sql or '1'} LIMIT ?)",
        (*wish.before, *condition.values, wish.limit),
    ).fetchone()
    return CatalogueCounts(volumes, min(backups, most), more=backups > most)


def _check_beginning(marker: str, skip: int) -> None:
    if marker and skip:
        raise InvalidInput("a page begins at a marker or after so many, not both", field="skip")


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
