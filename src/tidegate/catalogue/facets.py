"""Facets of what matches a filter. Exact where the kept counts of groups tell it, else among the newest that match.

Nothing here looks at more than a few thousand backups: what is not counted to the end says so.
"""

import sqlite3
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import islice

from tidegate.catalogue.conditions import Condition, group_condition, label_condition, row_condition
from tidegate.catalogue.keys import END, GROUPS, Wish, keys
from tidegate.catalogue.rows import STATES
from tidegate.model.catalogue import CatalogueFilter
from tidegate.model.catalogue_facets import CatalogueFacets, Facet, FacetValue

_TOP = 12
_NEWEST = 500
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
    groups, labels, rows = group_condition(wanted), label_condition(wanted), row_condition(wanted)
    wish = Wish(labels, rows, END, _NEWEST + 1)
    newest = list(islice(keys(connection, groups, wish), _NEWEST + 1))
    looked = _NEWEST if len(newest) > _NEWEST else None
    sample = _sample(connection, [number for _, number in newest[:_NEWEST]])
    if wish.rest:
        targets, namespaces = Counter(row[0] for row in sample), Counter(row[1] for row in sample)
        return CatalogueFacets(
            targets=_facet(targets, looked),
            namespaces=_facet(namespaces, looked),
            states=_facet(Counter(str(STATES[row[2]]) for row in sample), looked),
            labels=_facet(_labels(connection, sample), looked),
        )
    targets, namespaces = _by_group(connection, groups)
    return CatalogueFacets(
        targets=_facet(targets),
        namespaces=_facet(namespaces),
        states=_states(connection, groups, sum(targets.values())),
        labels=_facet(_labels(connection, sample), looked),
    )


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


def _by_group(connection: sqlite3.Connection, groups: Condition) -> tuple[Counter[str], Counter[str]]:
    """By target and by namespace, exactly: each group knows how many it has."""
    targets: Counter[str] = Counter()
    namespaces: Counter[str] = Counter()
    rows = connection.execute(
        f"SELECT t.name, g.namespace, sum(g.backups) FROM {GROUPS} WHERE {groups.sql or '1'} GROUP BY 1, 2",
        groups.values,
    )
    for target, namespace, backups in rows:
        targets[target] += backups
        namespaces[namespace] += backups
    return targets, namespaces


def _states(connection: sqlite3.Connection, groups: Condition, total: int) -> Facet:
    """Those that are not completed have an index of their own; the others are the rest."""
    inside = f"WHERE group_id IN (SELECT g.id FROM {GROUPS} WHERE {groups.sql})" if groups else ""
    unfinished = (
        "SELECT b.state AS state, b.group_id AS group_id FROM backups b WHERE b.hidden = 0 AND b.state <> 0 "
        f"ORDER BY b.state, b.created DESC LIMIT {_MOST_UNFINISHED + 1}"
    )
    looked = connection.execute(f"SELECT count(*) FROM ({unfinished})").fetchone()[0]
    found = Counter(
        {
            str(STATES[state]): int(backups)
            for state, backups in connection.execute(
                f"SELECT state, count(*) FROM ({unfinished}) {inside} GROUP BY 1", groups.values
            )
        }
    )
    if looked > _MOST_UNFINISHED:  # how many are completed could only be told by counting the others to the end
        return _facet(found, _MOST_UNFINISHED)
    found[str(STATES[0])] = total - sum(found.values())
    return _facet(found)


def _facet(found: Mapping[str, int], newest: int | None = None) -> Facet:
    """The most frequent; what nobody has, and what has no name, is no choice."""
    ranked = sorted(((-count, value) for value, count in found.items() if value and count > 0))
    values = tuple(FacetValue(value=value, backups=-count) for count, value in ranked[:_TOP])
    return Facet(values=values, more=len(ranked) > _TOP, newest=newest)
