"""What a filter means in SQL: which groups of backups it leaves, and what it asks of each backup."""

from dataclasses import dataclass

from tidegate.catalogue.rows import STATES
from tidegate.errors import InvalidInput
from tidegate.format.cfgs.times import to_seconds
from tidegate.model.stores.catalogue import CatalogueFilter

_LONGEST = 1024
_MOST_LABELS = 16


@dataclass(frozen=True)
class Condition:
    """A part of a WHERE, with what its question marks stand for. Empty: everything."""

    sql: str = ""
    values: tuple[object, ...] = ()

    def __bool__(self) -> bool:
        """Whether it leaves anything out."""
        return bool(self.sql)

    def and_(self, other: "Condition") -> "Condition":
        """Both."""
        sql = " AND ".join(part for part in (self.sql, other.sql) if part)
        return Condition(sql, (*self.values, *other.values))


def group_condition(wanted: CatalogueFilter) -> Condition:
    """About a group `g` of a volume `v` of a target `t`."""
    _check(wanted)
    found = Condition()
    for column, text in (
        ("t.name", wanted.target),
        ("v.name", wanted.volume),
        ("g.namespace", wanted.namespace),
        ("g.claim", wanted.claim),
    ):
        found = found.and_(_matches(column, text))
    for column, text in (("g.workload", wanted.workload), ("g.pod", wanted.pod)):
        if text:  # one of several, separated by blanks
            found = found.and_(Condition(f"(' ' || {column} || ' ') GLOB ?", (f"* {_glob(text)} *",)))
    if wanted.search:
        found = found.and_(Condition("instr(g.words, ?) > 0", (wanted.search.lower(),)))
    return found


def label_condition(wanted: CatalogueFilter) -> Condition:
    """About the labels of a backup `b`."""
    found = Condition()
    for key, value in sorted(wanted.labels.items()):
        found = found.and_(_has_label(key, value) if value else _has_key(key))
    return found


def _has_label(key: str, value: str) -> Condition:
    return Condition(
        "EXISTS (SELECT 1 FROM label_members m WHERE m.set_id = b.label_set_id AND m.label_id = "
        "(SELECT id FROM labels WHERE key = ? AND value = ?))",
        (key, value),
    )


def _has_key(key: str) -> Condition:
    """From the few labels of the set: a key may have a value of its own for each volume, so never from those."""
    return Condition(
        "EXISTS (SELECT 1 FROM label_members m CROSS JOIN labels l ON l.id = m.label_id "
        "WHERE m.set_id = b.label_set_id AND l.key = ?)",
        (key,),
    )


def row_condition(wanted: CatalogueFilter) -> Condition:
    """About the state and the time of a backup `b`."""
    found = Condition()
    if wanted.state is not None:
        number = STATES.index(wanted.state)
        # Numbers of ours, and the words of the index itself: SQLite does not see that what is 2 is not 0.
        found = Condition(f"b.state = {number} AND b.state <> 0" if number else "b.state = 0")
    if wanted.since is not None:
        found = found.and_(Condition("b.created >= ?", (to_seconds(wanted.since),)))
    if wanted.until is not None:
        found = found.and_(Condition("b.created < ?", (to_seconds(wanted.until),)))
    return found


def _matches(column: str, text: str) -> Condition:
    if not text:
        return Condition()
    return Condition(f"{column} GLOB ?", (_glob(text),)) if "*" in text else Condition(f"{column} = ?", (text,))


def _glob(text: str) -> str:
    """Only `*` has a meaning; the other signs of a glob stand for themselves."""
    return text.replace("[", "[[]").replace("?", "[?]")


def _check(wanted: CatalogueFilter) -> None:
    texts = (wanted.target, wanted.volume, wanted.namespace, wanted.claim, wanted.workload, wanted.pod, wanted.search)
    if any(len(text) > _LONGEST or text.count("*") > 4 for text in texts):  # noqa: PLR2004  # a glob is no program
        raise InvalidInput(f"a filter may have {_LONGEST} characters and four '*'", hint="look for a shorter part")
    if len(wanted.labels) > _MOST_LABELS:
        raise InvalidInput(f"at most {_MOST_LABELS} labels can be asked for at once")
