"""Looking at the locks of a volume, and removing those whose owners are dead."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from tidegate.datapath.workshop import Workshop
from tidegate.errors import DamagedMetadata, NotFound, Unauthenticated
from tidegate.format.cfgs.lock_file import EXPIRY, LARGEST_LOCK_FILE, LockFile, LockType
from tidegate.format.cfgs.paths import lock_key, lock_name_of, locks_dir
from tidegate.ports.object_store import ObjectStore

_WORDS = {LockType.BACKUP_OR_RESTORE: "backup or restore", LockType.DELETION: "deletion", LockType.UNTYPED: "untyped"}


@dataclass(frozen=True)
class LockSeen:
    """One lock."""

    name: str
    work: str
    acquired: bool
    age: timedelta

    @property
    def expired(self) -> bool:
        """Whether its owner has been silent for too long to be alive."""
        return self.age > EXPIRY


def locks_of(objects: ObjectStore, volume: str, shop: Workshop) -> list[LockSeen]:
    """All locks of the volume, oldest first. Where there are none nothing is written, not even to learn the time."""
    if not any(lock_name_of(info.key) for info in objects.list_level(locks_dir(volume)).objects):
        return []
    now = _now_of(objects, volume, shop)  # before the times of the locks, or a living one could look older than it is
    found = []
    for info in objects.list_level(locks_dir(volume)).objects:
        name = lock_name_of(info.key)
        if name is None:
            continue
        try:
            lock = LockFile.decode(objects.get(info.key, at_most=LARGEST_LOCK_FILE), what=name)
        except NotFound:
            continue
        except DamagedMetadata:
            found.append(LockSeen(name, "cannot be read", acquired=True, age=now - info.modified_at))
        else:
            found.append(LockSeen(name, _WORDS[lock.type], lock.acquired, now - info.modified_at))
    return sorted(found, key=lambda lock: lock.age, reverse=True)


def remove_lock(objects: ObjectStore, volume: str, lock: LockSeen) -> None:
    """Whoever holds it notices within a minute at the earliest; only for dead owners, or when a person insists."""
    objects.delete(lock_key(volume, lock.name))


def _now_of(objects: ObjectStore, volume: str, shop: Workshop) -> datetime:
    """The store's own time, shown by something written there: a wrong clock here must not kill living locks."""
    key = f"{locks_dir(volume)}/clock-{shop.new_id()}.probe"
    try:
        objects.put(key, b"")
        now = objects.head(key).modified_at
        objects.delete(key)
    except Unauthenticated:  # may only be read, so nothing will be removed either
        return shop.clock.now()
    return now
