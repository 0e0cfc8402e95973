"""Texts and labels that many backups share, each stored once. For the one thread that writes."""

import sqlite3
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping

_MOST_REMEMBERED = 20_000


class Interning:
    """Numbers for texts and sets of labels. What it remembers must be forgotten when a transaction is taken back."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._known: OrderedDict[Hashable, int] = OrderedDict()

    def forget(self) -> None:
        """After a rollback: numbers that were given out do not exist."""
        self._known.clear()

    def text(self, text: str) -> int:
        """The number of this text."""
        return self._number(("text", text), "texts (text)", (text,))

    def label_set(self, labels: Mapping[str, str]) -> int:
        """The number of exactly these labels."""
        members = sorted(
            self._number(("label", key, value), "labels (key, value)", (key, value)) for key, value in labels.items()
        )
        written = ",".join(map(str, members))
        known = self._recall(("set", written))
        if known is not None:
            return known
        number = self._number(("set", written), "label_sets (members)", (written,))
        self._connection.executemany(
            "INSERT OR IGNORE INTO label_members VALUES (?, ?)", [(member, number) for member in members]
        )
        return number

    def let_go(self, sets: Iterable[int]) -> None:
        """Delete those of these sets, and of their labels, that nobody has any more."""
        for number in set(sets):
            if self._connection.execute("SELECT 1 FROM backups WHERE label_set_id = ? LIMIT 1", (number,)).fetchone():
                continue
            row = self._connection.execute("DELETE FROM label_sets WHERE id = ? RETURNING members", (number,))
            for (members,) in row.fetchall():
                for member in filter(None, members.split(",")):
                    self._let_go_of_member(int(member), number)
        self.forget()

    def _let_go_of_member(self, label: int, number: int) -> None:
        self._connection.execute("DELETE FROM label_members WHERE label_id = ? AND set_id = ?", (label, number))
        self._connection.execute(
            "DELETE FROM labels WHERE id = ? AND NOT EXISTS (SELECT 1 FROM label_members WHERE label_id = ?)",
            (label, label),
        )

    def _recall(self, key: Hashable) -> int | None:
        if key in self._known:
            self._known.move_to_end(key)
            return self._known[key]
        return None

    def _number(self, key: Hashable, columns: str, values: tuple[str, ...]) -> int:
        known = self._recall(key)
        if known is not None:
            return known
        table, _, names = columns.partition(" ")
        where = " AND ".join(f"{name} = ?" for name in names.strip("()").split(", "))
        found = self._connection.execute(f"SELECT id FROM {table} WHERE {where}", values).fetchone()
        if found is None:
            marks = ", ".join("?" * len(values))
            inserted = self._connection.execute(f"INSERT INTO {columns} VALUES ({marks})", values)
            number = int(inserted.lastrowid or 0)
        else:
            number = int(found[0])
        self._known[key] = number
        if len(self._known) > _MOST_REMEMBERED:
            self._known.popitem(last=False)
        return number
