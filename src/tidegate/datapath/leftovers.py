"""What clients that died left in a volume's directory, and clearing away what is surely dead.

A lock is dead when its owner was silent for long. Half an object, which only a store of files keeps, is dead when it is
old and nobody but us has a living lock on the volume: whoever writes there has one, also over NFS, also Longhorn. A
writer that was frozen for so long has lost its lock; should it wake up, its write fails, and it could not have made a
backup of it anyway.

A backup that was begun stops all deletion of blocks, so one that is ours and surely dead goes too. One that somebody
else began stays: Longhorn's clients go on when they have lost their lock.
"""

import contextlib
from collections.abc import Iterable
from datetime import datetime, timedelta

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import NotFound, StoreUnavailable
from tidegate.format.cfgs.lock_file import EXPIRY
from tidegate.format.cfgs.paths import backup_cfg_key, blocks_dir, lock_name_of, locks_dir, volume_dir
from tidegate.ports.object_store import KeepsUnfinished, ObjectInfo, ObjectStore

# Much longer than a lock lives, so that a client that wakes up and speaks again is not interrupted while it does.
DEAD_AFTER = timedelta(hours=1)


# A cfg in progress keeps blocks from being deleted, so we are in no hurry.
BEGUN_DEAD_AFTER = timedelta(days=1)


def unfinished_blocks(objects: ObjectStore, volume: str) -> dict[str, int]:
    """Halves of blocks, with their bytes, of the dead and the living, where this client has listed."""
    found = {}
    for key in _unfinished(objects, blocks_dir(volume)):
        with contextlib.suppress(NotFound):
            found[key] = objects.head(key).size
    return found


def has_leftovers(objects: ObjectStore, volume: str) -> bool:
    """Whether there may be something to clear away beside locks; costs one listing, and only in a store of files."""
    if not isinstance(objects, KeepsUnfinished):
        return False
    # Work lists what it reads. The volume's own directory, where half a volume.cfg would lie, is not part of that.
    objects.list_level(volume_dir(volume))
    return bool(_unfinished(objects, volume_dir(volume)))


def clear_leftovers(objects: ObjectStore, volume: str) -> frozenset[str]:
    """Remove what is surely dead; the keys of it. Only for who holds the volume's lock and has just confirmed it."""
    now = _time_of_store(objects, volume)
    locks = [info for info in objects.list_level(locks_dir(volume)).objects if lock_name_of(info.key)]
    keys = [lock.key for lock in locks if _is_dead(lock, now)]
    if sum(now - lock.modified_at <= EXPIRY for lock in locks) == 1:  # that is ours
        keys.extend(_unfinished(objects, volume_dir(volume)))
    return frozenset(key for key in keys if _remove_if_dead(objects, key, now))


def old_beginnings(volume: StoredVolume, names: Iterable[str], *, now: datetime) -> list[str]:
    """Which of these backups were begun so long ago that, without a living lock, their writer must be dead."""
    old = []
    for name in names:
        with contextlib.suppress(NotFound):
            if now - volume.objects.head(backup_cfg_key(volume.name, name)).modified_at > BEGUN_DEAD_AFTER:
                old.append(name)
    return old


def clear_beginnings(volume: StoredVolume, names: Iterable[str]) -> frozenset[str]:
    """Remove those of these backups, begun by us, that are surely dead. Only for who holds the lock, as above."""
    now = _time_of_store(volume.objects, volume.name)
    locks = [info for info in volume.objects.list_level(locks_dir(volume.name)).objects if lock_name_of(info.key)]
    if sum(now - lock.modified_at <= EXPIRY for lock in locks) != 1:
        return frozenset()
    cleared = set()
    for name in old_beginnings(volume, names, now=now):
        with contextlib.suppress(NotFound):
            if volume.backup_cfg(name).begun_by_us:
                volume.delete_backup_cfg(name)
                cleared.add(name)
    return frozenset(cleared)


def clear_old_halves(objects: ObjectStore, prefix: str, *, now: datetime) -> None:
    """Remove halves of objects, where this client has listed, whose writers have been silent for a day: without a lock.

    `now` is a time of the store's own, or an earlier one.
    """
    for key in _unfinished(objects, prefix):
        with contextlib.suppress(NotFound):
            if now - objects.head(key).modified_at > BEGUN_DEAD_AFTER:
                objects.delete(key)


def expired_locks(objects: ObjectStore, volume: str) -> list[str]:
    """Keys of locks that nobody respects any more: for who removes the volume itself."""
    now = _time_of_store(objects, volume)
    locks = [info for info in objects.list_level(locks_dir(volume)).objects if lock_name_of(info.key)]
    return [lock.key for lock in locks if now - lock.modified_at > EXPIRY]


def _remove_if_dead(objects: ObjectStore, key: str, now: datetime) -> bool:
    """Look once more, since its owner may have woken up after the listing."""
    try:
        if not _is_dead(objects.head(key), now):
            return False
    except NotFound:
        return False
    objects.delete(key)
    return True


def _is_dead(info: ObjectInfo, now: datetime) -> bool:
    return now - info.modified_at > DEAD_AFTER


def _unfinished(objects: ObjectStore, prefix: str) -> list[str]:
    return objects.unfinished(prefix) if isinstance(objects, KeepsUnfinished) else []


def _time_of_store(objects: ObjectStore, volume: str) -> datetime:
    """Shown by something written there: a wrong clock here, or of whoever wrote a lock, must not kill the living."""
    # The same name for all: who finds it gone has met somebody who clears up too, and may leave it to them.
    key = f"{locks_dir(volume)}/clearing.probe"
    objects.put(key, b"")
    try:
        return objects.head(key).modified_at
    except NotFound as error:
        raise StoreUnavailable(f"somebody else clears up volume {volume}") from error
    finally:
        objects.delete(key)
