"""Writing what a sync found, in short transactions of the one thread that writes. Repeating it changes nothing."""

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import chain

from tidegate.catalogue.changes import FoundBackup, FoundVolume, VolumeChange
from tidegate.catalogue.interning import Interning
from tidegate.catalogue.rows import CREATED_UNKNOWN, INCREMENTAL, STATES, to_text, volume_text
from tidegate.format.cfgs.label_subject import subject_of
from tidegate.format.cfgs.times import to_seconds
from tidegate.model.stores.catalogue import FullSync, Subject

# Python's sqlite3 lets other threads on at each statement, and may wait five milliseconds for the interpreter to come
# back. So a statement takes many rows: as many as the largest of these that are still there, so that few forms of it
# are ever prepared.
_ROWS_AT_ONCE = (250, 50, 10, 1)
_UPSERT = """
INSERT INTO backups (volume_id, group_id, name, created, mark, state, hidden, flags, snapshot_created, snapshot_name,
    size, volume_size, data_size, new_bytes, repeated_bytes, compression_id, parameters_id, label_set_id, messages)
VALUES {rows}
ON CONFLICT (volume_id, name) DO UPDATE SET group_id = excluded.group_id, created = excluded.created,
    mark = excluded.mark, state = excluded.state, hidden = excluded.hidden, flags = excluded.flags,
    snapshot_created = excluded.snapshot_created, snapshot_name = excluded.snapshot_name, size = excluded.size,
    volume_size = excluded.volume_size, data_size = excluded.data_size, new_bytes = excluded.new_bytes,
    repeated_bytes = excluded.repeated_bytes,
    compression_id = excluded.compression_id, parameters_id = excluded.parameters_id,
    label_set_id = excluded.label_set_id, messages = excluded.messages
"""
_ROW = f"({', '.join('?' * 19)})"
_UPSERTS = {size: _UPSERT.format(rows=", ".join([_ROW] * size)) for size in _ROWS_AT_ONCE}
_RECOUNT = """
UPDATE groups SET backups = (SELECT count(*) FROM backups b WHERE b.group_id = groups.id AND b.hidden = 0)
WHERE volume_id = ?
"""


class CatalogueWriting:
    """Statements without transactions: whoever calls begins and ends them."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.interning = Interning(connection)

    def apply(self, change: VolumeChange) -> None:
        """One batch of one volume."""
        volume = self._volume_id(change.target, change.volume)
        hidden = self._hidden(change.target, change.volume)
        common = _Common(self, volume)
        rows = [self._row(volume, found, common, hidden) for found in change.backups]
        self._upsert(rows)
        if change.vanished:
            self._drop_backups(volume, change.vanished)
        if change.backups or change.vanished:
            self._connection.execute(_RECOUNT, (volume,))
        if change.found is not None:
            self._finish(volume, change.found)

    def touch(self, target: str, volumes: Iterable[str], synced_at: datetime) -> None:
        """These were looked at, and nothing about them has changed."""
        self._connection.executemany(
            "UPDATE volumes SET synced_at = ?, settled = 1 WHERE target_id = (SELECT id FROM targets WHERE name = ?) "
            "AND name = ?",
            [(to_seconds(synced_at), target, volume) for volume in volumes],
        )

    def note_full_sync(self, target: str, sync: FullSync) -> None:
        """The whole store has been read."""
        self._connection.execute(
            "INSERT OR REPLACE INTO full_syncs VALUES (?, ?, ?)", (target, sync.url, sync.began_at.isoformat())
        )

    def forget_full_syncs(self) -> None:
        """No store counts as read."""
        self._connection.execute("DELETE FROM full_syncs")

    def forget_full_sync(self, target: str) -> None:
        """It is no longer a target; one of the same name has to be read first."""
        self._connection.execute("DELETE FROM full_syncs WHERE target = ?", (target,))

    def blame(self, target: str, volume: str, messages: dict[str, str]) -> None:
        """A volume with these messages; whatever else is known of it stays."""
        number = self._volume_id(target, volume)
        self._connection.execute("UPDATE volumes SET messages = ? WHERE id = ?", (to_text(messages), number))
        if not self._has_group(number):
            self.group(number, Subject())

    def drop_volume(self, target: str, volume: str) -> None:
        """Forget the volume and all of its backups; no error if it is not known."""
        number = self._connection.execute(
            "SELECT v.id FROM volumes v JOIN targets t ON t.id = v.target_id WHERE t.name = ? AND v.name = ?",
            (target, volume),
        ).fetchone()
        if number is None:
            return
        sets = self._connection.execute("DELETE FROM backups WHERE volume_id = ? RETURNING label_set_id", number)
        freed = [int(one) for (one,) in sets.fetchall()]
        self._connection.execute("DELETE FROM groups WHERE volume_id = ?", number)
        self._connection.execute("DELETE FROM volumes WHERE id = ?", number)
        self.interning.let_go(freed)

    def hide(self, target: str, volume: str, backups: Sequence[str], *, hidden: bool) -> None:
        """Take them out of every list, or put them back in; the whole volume if no backup is named."""
        if hidden:
            self._connection.executemany(
                "INSERT OR IGNORE INTO tombstones VALUES (?, ?, ?)", [(target, volume, one) for one in backups or [""]]
            )
        else:
            self._connection.executemany(
                "DELETE FROM tombstones WHERE target = ? AND volume = ? AND backup = ?",
                [(target, volume, one) for one in backups or [""]],
            )
        row = self._connection.execute(
            "SELECT v.id FROM volumes v JOIN targets t ON t.id = v.target_id WHERE t.name = ? AND v.name = ?",
            (target, volume),
        ).fetchone()
        if row is not None:
            self._hide_again(int(row[0]), self._hidden(target, volume))

    def _hide_again(self, volume: int, hidden: set[str]) -> None:
        whole = "" in hidden
        self._connection.execute("UPDATE volumes SET hidden = ? WHERE id = ?", (whole, volume))
        self._connection.execute("UPDATE groups SET hidden = ? WHERE volume_id = ?", (whole, volume))
        self._connection.execute(
            "UPDATE backups SET hidden = ? WHERE volume_id = ? AND hidden <> ?", (whole, volume, whole)
        )
        self._connection.executemany(
            "UPDATE backups SET hidden = 1 WHERE volume_id = ? AND name = ?", [(volume, one) for one in hidden if one]
        )
        self._connection.execute(_RECOUNT, (volume,))

    def _hidden(self, target: str, volume: str) -> set[str]:
        rows = self._connection.execute(
            "SELECT backup FROM tombstones WHERE target = ? AND volume = ?", (target, volume)
        )
        return {backup for (backup,) in rows.fetchall()}

    def _volume_id(self, target: str, volume: str) -> int:
        self._connection.execute("INSERT OR IGNORE INTO targets (name) VALUES (?)", (target,))
        self._connection.execute(
            "INSERT OR IGNORE INTO volumes (target_id, name, hidden) SELECT id, ?, EXISTS (SELECT 1 FROM tombstones "
            "WHERE target = ? AND volume = ? AND backup = '') FROM targets WHERE name = ?",
            (volume, target, volume, target),
        )
        (number,) = self._connection.execute(
            "SELECT v.id FROM volumes v JOIN targets t ON t.id = v.target_id WHERE t.name = ? AND v.name = ?",
            (target, volume),
        ).fetchone()
        return int(number)

    def group(self, volume: int, subject: Subject) -> int:
        """The number of the volume's backups that have this subject."""
        values = (volume, subject.namespace, subject.claim, subject.workload, subject.pod)
        found = self._connection.execute(
            "SELECT id FROM groups WHERE volume_id = ? AND namespace = ? AND claim = ? AND workload = ? AND pod = ?",
            values,
        ).fetchone()
        if found is not None:
            return int(found[0])
        name, target, hidden = self._connection.execute(
            "SELECT name, target_id, hidden FROM volumes WHERE id = ?", (volume,)
        ).fetchone()
        words = f"{name}\n{subject.namespace}\n{subject.claim}\n{subject.workload}\n{subject.pod}".lower()
        inserted = self._connection.execute(
            "INSERT INTO groups (volume_id, namespace, claim, workload, pod, words, target_id, hidden) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (*values, words, target, hidden),
        )
        return int(inserted.lastrowid or 0)

    @staticmethod
    def _row(volume: int, found: FoundBackup, common: "_Common", hidden: set[str]) -> tuple[object, ...]:
        group, compression, parameters, labels = common.of(found)
        return (
            volume,
            group,
            found.name,
            found.created,
            found.mark,
            0 if found.state is STATES[0] else STATES.index(found.state),
            bool(hidden) and ("" in hidden or found.name in hidden),
            (INCREMENTAL if found.is_incremental else 0) | (0 if found.created_known else CREATED_UNKNOWN),
            found.snapshot_created,
            found.snapshot_name,
            found.size,
            found.volume_size,
            found.data_size,
            found.newly_uploaded_size,
            found.re_uploaded_size,
            compression,
            parameters,
            labels,
            to_text(found.messages) if found.messages else None,
        )

    def _upsert(self, rows: Sequence[tuple[object, ...]]) -> None:
        start = 0
        for size in _ROWS_AT_ONCE:
            while len(rows) - start >= size:
                values = list(chain.from_iterable(rows[start : start + size]))
                self._connection.execute(_UPSERTS[size], values)
                start += size

    def _drop_backups(self, volume: int, names: Sequence[str]) -> None:
        freed: list[int] = []
        for name in names:
            rows = self._connection.execute(
                "DELETE FROM backups WHERE volume_id = ? AND name = ? RETURNING label_set_id", (volume, name)
            )
            freed.extend(int(one) for (one,) in rows.fetchall())
        self.interning.let_go(freed)

    def _finish(self, volume: int, found: FoundVolume) -> None:
        self._connection.execute(
            "UPDATE volumes SET listing_mark = ?, settled = ?, synced_at = ? WHERE id = ?",
            (found.listing_mark, found.settled, to_seconds(found.synced_at), volume),
        )
        if found.messages is not None:
            text = to_text(found.messages) if found.messages else None
            self._connection.execute("UPDATE volumes SET messages = ? WHERE id = ?", (text, volume))
        if found.record is not None:
            self._connection.execute(
                "UPDATE volumes SET record = ?, cfg_mark = ? WHERE id = ?",
                (volume_text(found.record), found.cfg_mark, volume),
            )
            self._keep_own_group(volume, subject_of(found.record.labels))
        elif not self._has_group(volume):
            self.group(volume, Subject())

    def _keep_own_group(self, volume: int, own: Subject) -> None:
        """A volume is found by its own labels also while it has no backups; groups that nobody needs go."""
        kept = self.group(volume, own)
        self._connection.execute(
            "DELETE FROM groups WHERE volume_id = ? AND id <> ? "
            "AND id NOT IN (SELECT group_id FROM backups WHERE volume_id = ?)",
            (volume, kept, volume),
        )

    def _has_group(self, volume: int) -> bool:
        return self._connection.execute("SELECT 1 FROM groups WHERE volume_id = ?", (volume,)).fetchone() is not None


class _Common:
    """What the backups of one batch share, looked up once for all that have the same."""

    def __init__(self, writing: CatalogueWriting, volume: int) -> None:
        self._writing = writing
        self._volume = volume
        self._known: dict[tuple[object, ...], tuple[int, int, int, int]] = {}

    def of(self, found: FoundBackup) -> tuple[int, int, int, int]:
        """The numbers of its group, compression, parameters and labels."""
        key = (found.compression, *found.parameters.items(), None, *found.labels.items())
        known = self._known.get(key)
        if known is None:
            interning = self._writing.interning
            known = self._known[key] = (
                self._writing.group(self._volume, subject_of(found.labels)),
                interning.text(found.compression),
                interning.text(to_text(found.parameters)),
                interning.label_set(found.labels),
            )
        return known
