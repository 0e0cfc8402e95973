"""Facets of what matches a filter. Exact where the kept counts of groups tell it, else among the newest that match.

Nothing here looks at more than a few thousand backups: what is not counted to the end says so.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from tidegate.catalogue.conditions import Condition, group_condition
from tidegate.catalogue.keys import (
    END,
    GROUPS,
    MOST_SKIPPED,
    Key,
    Wish,
    by_time,
    in_groups,
    keys,
    set_condition,
    walk,
    wish_for,
)
from tidegate.catalogue.rows import STATES
from tidegate.model.catalogue import CatalogueFilter
from tidegate.model.catalogue_facets import CatalogueFacets, Facet, FacetValue

_TOP = 12
_NEWEST = 200
# Up to so many are sorted by time; of more, some are met soon on the way back through time.
_MANY = 20_000
_MOST_UNFINISHED = 5_000
# Documents, and what has a filter of its own: no list of values that anybody picks from.
_NO_FACETS = frozenset(
    {
        "KubernetesStatus",
        "tidegate.dev/namespace",
        "tidegate.dev/volume",
        "tidegate.dev/volume-definition",
        "tidegate.dev/backup",
    }
)


def find_facets(connection: sqlite3.Connection, wanted: CatalogueFilter) -> CatalogueFacets:
    """See Catalogue."""
    groups = group_condition(wanted)
    parts = _parts(connection, groups)
    inner = _inner(parts) if groups else groups
    wish = wish_for(wanted, END, _NEWEST + 1)
    newest = list(islice(_newest(connection, groups, parts, wish), _NEWEST + 1))
    looked = _NEWEST if len(newest) > _NEWEST else None
    sample = _sample(connection, [number for _, number in newest[:_NEWEST]])
    labels = _facet(_labels(connection, sample), looked)
    if not wanted_of_rows(wanted):
        targets, namespaces = _by_group(parts)
        backups = targets.total()
        return CatalogueFacets(
            backups=backups,
            targets=_facet(targets),
            namespaces=_facet(namespaces),
            states=_states(connection, inner, backups),
            labels=labels,
        )
    backups = len(newest) if looked is None else _count_up_to(connection, inner.and_(set_condition(wish)), wish.before)
    return CatalogueFacets(
        backups=min(backups, MOST_SKIPPED),
        more=backups > MOST_SKIPPED,
        targets=_facet(Counter(row[0] for row in sample), looked),
        namespaces=_facet(Counter(row[1] for row in sample), looked),
        states=_facet(Counter(str(STATES[row[2]]) for row in sample), looked),
        labels=labels,
    )


def wanted_of_rows(wanted: CatalogueFilter) -> bool:
    """Whether something is asked of each backup, which groups cannot tell."""
    return bool(wanted.labels or wanted.state is not None or wanted.since or wanted.until)


class _Part(NamedTuple):
    """The groups of one namespace in one target."""

    target: str
    namespace: str
    volumes: int
    backups: int
    numbers: str


def _parts(connection: sqlite3.Connection, groups: Condition) -> list[_Part]:
    rows = connection.execute(
        "SELECT t.name, g.namespace, count(DISTINCT g.volume_id), sum(g.backups), "
        f"{'group_concat(g.id)' if groups else '0'} FROM {GROUPS} WHERE {groups.sql or '1'} GROUP BY 1, 2",
        groups.values,
    )
    return [_Part(*row) for row in rows]


def _inner(parts: Iterable[_Part]) -> Condition:
    return in_groups(",".join(one.numbers for one in parts))


def _newest(connection: sqlite3.Connection, groups: Condition, parts: list[_Part], wish: Wish) -> Iterator[Key]:
    """Of few, the newest are sorted out; of many, they are met soon on the way back through time."""
    if not groups:
        return keys(connection, groups, wish)
    inner = _inner(parts).and_(set_condition(wish))
    if sum(one.backups for one in parts) > _MANY:
        return walk(connection, by_time(inner), wish.before, wish.limit)
    return walk(connection, inner, wish.before, wish.limit)


def _count_up_to(connection: sqlite3.Connection, condition: Condition, before: Key) -> int:
    (found,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM backups b WHERE b.hidden = 0 AND (b.created, b.id) < (?, ?) "
        f"AND {condition.sql or '1'} LIMIT ?)",
        (*before, *condition.values, MOST_SKIPPED + 1),
    ).fetchone()
    return int(found)


_Sampled = tuple[str, str, int, int]


def _sample(connection: sqlite3.Connection, numbers: Iterable[int]) -> list[_Sampled]:
    """(target, namespace, state, set of labels) of each."""
    marks = ",".join(map(str, numbers))
    return connection.execute(
        "SELECT t.name, g.namespace, b.state, b.label_set_id FROM backups b JOIN groups g ON g.id = b.group_id "
        f"JOIN volumes v ON v.id = b.volume_id JOIN targets t ON t.id = v.target_id WHERE b.id IN ({marks})"
    ).fetchall()


def _labels(connection: sqlite3.Connection, sample: Iterable[_Sampled]) -> Counter[str]:
    sets = Counter(row[3] for row in sample)
    marks = ",".join(map(str, sets))
    members: dict[int, int] = {}
    for number, written in connection.execute(f"SELECT id, members FROM label_sets WHERE id IN ({marks})"):
        for member in filter(None, written.split(",")):
            members[int(member)] = members.get(int(member), 0) + sets[number]
    marks = ",".join(map(str, members))
    known = connection.execute(f"SELECT id, key, value FROM labels WHERE id IN ({marks})")
    return Counter({f"{key}={value}": members[number] for number, key, value in known if key not in _NO_FACETS})


def _by_group(groups: Iterable[_Part]) -> tuple[Counter[str], Counter[str]]:
    """By target and by namespace, exactly: each group knows how many it has."""
    targets: Counter[str] = Counter()
    namespaces: Counter[str] = Counter()
    for group in groups:
        targets[group.target] += group.backups
        namespaces[group.namespace] += group.backups
    return targets, namespaces


def _states(connection: sqlite3.Connection, inner: Condition, total: int) -> Facet:
    """Those that are not completed have an index of their own; the others are the rest."""
    unfinished = f"SELECT state, group_id FROM backups WHERE hidden = 0 AND state <> 0 LIMIT {_MOST_UNFINISHED + 1}"
    (looked,) = connection.execute(f"SELECT count(*) FROM ({unfinished})").fetchone()
    rows = connection.execute(
        f"SELECT b.state, count(*) FROM ({unfinished}) b WHERE {inner.sql or '1'} GROUP BY 1", inner.values
    )
    found = Counter({str(STATES[state]): int(backups) for state, backups in rows})
    if looked > _MOST_UNFINISHED:  # how many are completed is told only by counting the others to the end
        return _facet(found, _MOST_UNFINISHED)
    found[str(STATES[0])] = total - found.total()
    return _facet(found)


def _facet(found: Mapping[str, int], newest: int | None = None) -> Facet:
    """The most frequent; what nobody has, and what has no name, is no choice."""
    ranked = sorted(((-count, value) for value, count in found.items() if value and count > 0))
    values = tuple(FacetValue(value=value, backups=-count) for count, value in ranked[:_TOP])
    return Facet(values=values, more=len(ranked) > _TOP, newest=newest)
