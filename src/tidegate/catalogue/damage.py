"""What of a target's store could not be read: how much, and the first of it by name."""

import json
import sqlite3

from tidegate.catalogue.rows import STATES
from tidegate.model.stores.catalogue import BackupState
from tidegate.model.stores.catalogue_status import CatalogueDamage

# Few rows are neither complete nor in progress, and `by_state` leads to them alone.
_BACKUPS = (
    "FROM backups b JOIN volumes v ON v.id = b.volume_id JOIN targets t ON t.id = v.target_id "
    "WHERE b.hidden = 0 AND v.hidden = 0 AND t.name = ? "
    f"AND b.state = {STATES.index(BackupState.ERROR)} AND b.state <> 0"
)
_VOLUMES = (
    "FROM volumes v JOIN targets t ON t.id = v.target_id "
    "WHERE v.hidden = 0 AND v.messages IS NOT NULL AND v.messages <> '{}' AND t.name = ?"
)


def find_damage(connection: sqlite3.Connection, target: str, *, most: int) -> CatalogueDamage:
    """All are counted, at most so many are named: volumes first, then the newest backups."""
    (volumes,) = connection.execute(f"SELECT count(*) {_VOLUMES}", (target,)).fetchone()
    (backups,) = connection.execute(f"SELECT count(*) {_BACKUPS}", (target,)).fetchone()
    named = [
        f"volume {name}: {_words(messages)}"
        for name, messages in connection.execute(
            f"SELECT v.name, v.messages {_VOLUMES} ORDER BY v.name LIMIT ?", (target, most)
        )
    ]
    named += [
        f"backup {backup} of volume {volume}: {_words(messages)}"
        for volume, backup, messages in connection.execute(
            f"SELECT v.name, b.name, b.messages {_BACKUPS} ORDER BY b.created DESC, b.id DESC LIMIT ?",
            (target, most - len(named)),
        )
    ]
    return CatalogueDamage(volumes=volumes, backups=backups, named=tuple(named))


def _words(messages: str | None) -> str:
    return "; ".join(map(str, json.loads(messages).values())) if messages else "it cannot be read"
