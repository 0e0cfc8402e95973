"""Facets of what matches a filter. Exact where the kept counts of groups tell it, else among the newest that match.

Nothing here looks at more than some thousand backups: what is not counted to the end says so.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from tidegate.catalogue.conditions import Condition, group_condition
from tidegate.catalogue.keys import (
    END,
    FEW,
    MOST_SKIPPED,
    SORTED,
    Key,
    Wish,
    by_time,
    in_each_group,
    inside,
    keys,
    set_condition,
    walk,
    wish_for,
)
from tidegate.catalogue.rows import STATES
from tidegate.model.stores.catalogue import CatalogueFilter
from tidegate.model.stores.catalogue_facets import CatalogueFacets, Facet, FacetValue

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


@dataclass(frozen=True)
class FacetLimits:
    """How far is looked, so that every look is short."""

    values: int = 12
    """Of one facet."""
    newest: int = 200
    """Looked at one by one."""
    unfinished: int = 5_000
    """Counted of those that are not completed."""
    counted: int = MOST_SKIPPED
    """Counted where each has to be asked: as many as can be scrolled to."""
    sorted: int = SORTED
    """Of more, some are met soon on the way back through time."""
    groups: int = FEW
    """Whose numbers are found out first; of more, each is asked when one of its backups is met."""

    def facet(self, found: Mapping[str, int], newest: int | None = None) -> Facet:
        """The most frequent; what nobody has, and what has no name, is no choice."""
        ranked = sorted((-count, value) for value, count in found.items() if value and count > 0)
        values = tuple(FacetValue(value=value, backups=-count) for count, value in ranked[: self.values])
        return Facet(values=values, more=len(ranked) > self.values, newest=newest)


USUAL = FacetLimits()


def find_facets(
    connection: sqlite3.Connection, wanted: CatalogueFilter, limits: FacetLimits = USUAL
) -> CatalogueFacets:
    """See Catalogue."""
    groups = group_condition(wanted)
    wish = wish_for(wanted, END, limits.newest + 1)
    # Where each backup is asked anyway, and all groups may have it, the groups have nothing to tell.
    parts = _parts(connection, groups, wish) if groups or not _asks_each(wanted) else []
    many = sum(one.backups for one in parts) > limits.sorted
    inner = groups
    if groups and many and sum(one.groups for one in parts) > limits.groups:
        inner = in_each_group(groups, wish)
    elif groups:
        inner = inside(connection, groups, wish.tables)
    newest = list(islice(_newest(connection, inner, wish, many=many), limits.newest + 1))
    sample = _sample(connection, [number for _, number in newest[: limits.newest]])
    looked = limits.newest if len(newest) > limits.newest else None
    found = _of_sample(connection, sample, limits, looked)
    if not _asks_each(wanted):
        return _exact(connection, parts, inner, found, limits)
    if looked is None:
        return found
    backups = _count_up_to(connection, inner.and_(set_condition(wish)), wish.before, limits.counted + 1)
    return found.replace(backups=min(backups, limits.counted), more=backups > limits.counted)


def _asks_each(wanted: CatalogueFilter) -> bool:
    """Whether something is asked of each backup, which groups cannot tell."""
    return bool(wanted.labels or wanted.state is not None or wanted.since or wanted.until)


class _Part(NamedTuple):
    """The groups of one namespace in one target."""

    target: str
    namespace: str
    backups: int
    groups: int


def _parts(connection: sqlite3.Connection, groups: Condition, wish: Wish) -> list[_Part]:
    """Told apart by numbers, which are sorted in half the time; their names are few."""
    rows = connection.execute(
        f"SELECT g.target_id, g.namespace, sum(g.backups), count(*) FROM {wish.tables} "
        f"WHERE {groups.sql or '1'} GROUP BY 2, 1",
        groups.values,
    )
    names = dict(connection.execute("SELECT id, name FROM targets"))
    return [_Part(names[target], *rest) for target, *rest in rows]


def _newest(connection: sqlite3.Connection, inner: Condition, wish: Wish, *, many: bool) -> Iterator[Key]:
    """Of few, the newest are sorted out; of many, they are met soon on the way back through time."""
    if not inner:
        return keys(connection, inner, wish)
    condition = inner.and_(set_condition(wish))
    return walk(connection, by_time(condition) if many else condition, wish.before, wish.limit)


def _count_up_to(connection: sqlite3.Connection, condition: Condition, before: Key, most: int) -> int:
    """From an index alone where there is one: nothing is asked that only the row itself tells."""
    (found,) = connection.execute(
        "SELECT count(*) FROM (SELECT 1 FROM backups b WHERE b.hidden = 0 AND (b.created, b.id) < (?, ?) "
        f"AND {condition.sql or '1'} LIMIT ?)",
        (*before, *condition.values, most),
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


def _of_sample(
    connection: sqlite3.Connection, sample: list[_Sampled], limits: FacetLimits, looked: int | None
) -> CatalogueFacets:
    return CatalogueFacets(
        backups=len(sample),
        targets=limits.facet(Counter(row[0] for row in sample), looked),
        namespaces=limits.facet(Counter(row[1] for row in sample), looked),
        states=limits.facet(Counter(str(STATES[row[2]]) for row in sample), looked),
        labels=limits.facet(_labels(connection, sample), looked),
    )


def _labels(connection: sqlite3.Connection, sample: Iterable[_Sampled]) -> Counter[str]:
    sets = Counter(row[3] for row in sample)
    marks = ",".join(map(str, sets))
    members: Counter[int] = Counter()
    for number, written in connection.execute(f"SELECT id, members FROM label_sets WHERE id IN ({marks})"):
        for member in filter(None, written.split(",")):
            members[int(member)] += sets[number]
    marks = ",".join(map(str, members))
    known = connection.execute(f"SELECT id, key, value FROM labels WHERE id IN ({marks})")
    return Counter({f"{key}={value}": members[number] for number, key, value in known if key not in _NO_FACETS})


def _exact(
    connection: sqlite3.Connection,
    parts: Iterable[_Part],
    inner: Condition,
    sampled: CatalogueFacets,
    limits: FacetLimits,
) -> CatalogueFacets:
    """Each group knows how many it has; only labels, and very many states, are left to the sample."""
    targets: Counter[str] = Counter()
    namespaces: Counter[str] = Counter()
    for part in parts:
        targets[part.target] += part.backups
        namespaces[part.namespace] += part.backups
    states = _states(connection, inner, targets.total(), limits.unfinished)
    return sampled.replace(
        backups=targets.total(),
        targets=limits.facet(targets),
        namespaces=limits.facet(namespaces),
        states=limits.facet(states) if states is not None else sampled.states,
    )


def _states(connection: sqlite3.Connection, inner: Condition, total: int, most: int) -> Counter[str] | None:
    """Those that are not completed have an index of their own, the others are the rest; None if there are too many."""
    unfinished = f"SELECT state, group_id FROM backups WHERE hidden = 0 AND state <> 0 LIMIT {most + 1}"
    (looked,) = connection.execute(f"SELECT count(*) FROM ({unfinished})").fetchone()
    if looked > most:
        return None
    rows = connection.execute(
        f"SELECT b.state, count(*) FROM ({unfinished}) b WHERE {inner.sql or '1'} GROUP BY 1", inner.values
    )
    found = Counter({str(STATES[state]): int(backups) for state, backups in rows})
    found[str(STATES[0])] = total - found.total()
    return found
