"""The lock of a volume in a store: Longhorn's protocol, so that its clients and ours respect each other.

Say what you want to do (pending), wait until everybody who says so at the same time can be seen, look, and go on only
if nobody with another kind of work comes first. Say so again every minute; who has not for 150 seconds is dead.
Ages are judged by the store's own clock, which our own lock file shows us: a wrong clock here changes nothing.
"""

import contextlib
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from tidegate.datapath.leftovers import DEAD_AFTER, clear_leftovers, has_leftovers
from tidegate.datapath.workshop import Workshop
from tidegate.errors import (
    DamagedMetadata,
    NotFound,
    StoreLocked,
    StoreLockHeld,
    StoreUnavailable,
    TidegateError,
    WorkCancelled,
)
from tidegate.format.blocks.checksum import checksum
from tidegate.format.cfgs.lock_file import EXPIRY, LARGEST_LOCK_FILE, LockFile, LockType
from tidegate.format.cfgs.paths import lock_key, lock_name_of, locks_dir
from tidegate.model.transfers.mover_job import LockKnowledge
from tidegate.ports.object_store import ObjectInfo, ObjectStore

SETTLE_SECONDS = 2.0
REFRESH_SECONDS = 60.0
# We stop believing in our own lock before others do.
_MARGIN_SECONDS = 30.0
_RETRY_SECONDS = 15.0
_MOST_TRIES = 40
_WORK: dict[LockType | None, str] = {
    LockType.DELETION: "deletes from",
    LockType.BACKUP_OR_RESTORE: "backs up or restores",
}


@dataclass(frozen=True)
class SeenLock:
    """A lock file as the store showed it. One that cannot be understood is taken for somebody else's work."""

    name: str
    type: LockType | None
    acquired: bool
    modified_at: datetime

    @property
    def sighting(self) -> str:
        """Which lock, and when it was written: the same for as long as its owner is silent."""
        return f"{self.name} {self.modified_at.isoformat()}"

    @property
    def rank(self) -> tuple[bool, datetime, str]:
        """Who comes first: acquired before pending, then older, then by name."""
        return (not self.acquired, self.modified_at, self.name)


def lock_in_the_way(mine: SeenLock, others: list[SeenLock], *, now: datetime) -> SeenLock | None:
    """The first of the locks that forbid mine: of another type, alive, and before me."""
    rivals = [
        other
        for other in others
        if other.type != mine.type and now - other.modified_at <= EXPIRY and other.rank < mine.rank
    ]
    return min(rivals, key=lambda rival: rival.rank, default=None)


def drop_locks(objects: ObjectStore, volume: str, names: Iterable[str]) -> None:
    """Remove exactly these locks; only for owners that are surely dead."""
    for name in names:
        objects.delete(lock_key(volume, name))


class VolumeLock:
    """Held while inside the `with`; entering waits up to ten minutes for others, then raises StoreLockHeld.

    Without `patient` it raises that at once, for whoever has a slot that others could use meanwhile. A lock whose time
    has not changed for as long as a lock lives is dead, also where that time lies in the future.

    Who leaves after good work clears away what the dead left, if any was met: it has the lock that this needs.
    """

    def __init__(
        self,
        objects: ObjectStore,
        volume: str,
        lock_type: LockType,
        *,
        shop: Workshop,
        cancelled: threading.Event,
        on_wait: Callable[[str], None] = lambda _: None,
        patient: bool = True,
        known: LockKnowledge | None = None,
    ) -> None:
        known = known or LockKnowledge()
        self._objects = objects
        self._volume = volume
        name = known.lock or f"lock-{checksum(shop.new_id().encode())[:16]}"
        self._file = LockFile(name, lock_type, acquired=False)
        self._key = lock_key(volume, self._file.name)
        self._shop = shop
        self._cancelled = cancelled
        self._on_wait = on_wait
        self._tries = _MOST_TRIES if patient else 1
        self._dead = known.dead_locks
        self._stale = frozenset(known.stale_locks)
        self._first_seen: dict[str, float] = {}
        self._released = threading.Event()
        self._refreshed_at = 0.0
        self._modified_at: datetime | None = None  # of our acquired lock, by the store's clock
        self._lost = False
        self._met_the_dead = False
        self._writing = threading.Lock()
        self._keeper = threading.Thread(target=self._keep, daemon=True)

    def __enter__(self) -> "VolumeLock":
        drop_locks(self._objects, self._volume, self._dead)
        for tries in range(1, self._tries + 1):
            try:
                self._acquire()
                break
            except StoreLockHeld as conflict:
                if tries == self._tries:
                    raise
                self._on_wait(conflict.message)
                self._pause(_RETRY_SECONDS)
        self._keeper.start()
        return self

    def __exit__(self, error: object, *_: object) -> None:
        try:
            if error is None:
                self._clear_leftovers()
        finally:
            self._released.set()
            self._keeper.join()
            self._withdraw()

    def check(self) -> None:
        """Raise StoreLocked if others may by now believe that we are dead: called before what cannot be undone."""
        silent = self._shop.clock.monotonic() - self._refreshed_at
        if self._lost:
            raise StoreLocked(f"the lock on volume {self._volume} was lost: others could have thought us dead")
        if silent > EXPIRY.total_seconds() - _MARGIN_SECONDS:
            raise StoreLocked(
                f"the lock on volume {self._volume} could not be refreshed for {silent:.0f} seconds and may be lost"
            )

    def confirm(self) -> None:
        """Refresh the lock now, and raise StoreLocked if it was lost in between: before what cannot be taken back.

        A machine that slept knows nothing of it; the store's own times do.
        """
        self.check()
        self._refresh()
        self.check()

    def _acquire(self) -> None:
        try:
            self._write(acquired=False)
            if not self._alone():
                self._pause(SETTLE_SECONDS)
                self._refuse_if_behind_another()
                self._write(acquired=True)
            self._modified_at = self._objects.head(self._key).modified_at
        except BaseException:
            self._withdraw()
            raise

    def _alone(self) -> bool:
        """Acquire without the wait, where it is proven that nobody can have been overlooked.

        Our pending lock was there before we looked. Who became visible before that, we saw. Who became visible later
        and waits two seconds, looks when our lock has long been acquired; who does not wait, as here, sees our lock
        and then does. So all that is needed is a store that lists at once, nobody else, and not to be slow.
        """
        if not self._objects.lists_at_once:
            return False
        looked_at = self._shop.clock.monotonic()
        if self._dead or self._look()[1]:  # what the dead have sent may still arrive: give it the two seconds
            return False
        self._write(acquired=True)
        if self._shop.clock.monotonic() - looked_at < SETTLE_SECONDS / 2:
            return True
        self._write(acquired=False)  # somebody may have looked in between: line up again
        return False

    def _refuse_if_behind_another(self) -> None:
        mine, others = self._look()
        others = [other for other in others if not self._is_stale(other)]
        rival = lock_in_the_way(mine, others, now=mine.modified_at + timedelta(seconds=SETTLE_SECONDS))
        if rival is not None:
            work = _WORK.get(rival.type, "works on")
            raise StoreLockHeld(
                f"another client {work} volume {self._volume} ({rival.name}); please try again later",
                lock=rival.sighting,
            )

    def _is_stale(self, lock: SeenLock) -> bool:
        now = self._shop.clock.monotonic()
        seen_for = now - self._first_seen.setdefault(lock.sighting, now)
        return lock.sighting in self._stale or seen_for > EXPIRY.total_seconds()

    def _look(self) -> tuple[SeenLock, list[SeenLock]]:
        listing = self._objects.list_level(locks_dir(self._volume))
        seen = [lock for info in listing.objects if (lock := self._read(info))]
        mine = [lock for lock in seen if lock.name == self._file.name]
        if not mine:
            raise StoreUnavailable(f"the lock written on volume {self._volume} is not in the store's listing")
        others = [lock for lock in seen if lock.name != self._file.name]
        self._met_the_dead = any(mine[0].modified_at - lock.modified_at > DEAD_AFTER for lock in others)
        return mine[0], others

    def _read(self, info: ObjectInfo) -> SeenLock | None:
        name = lock_name_of(info.key)
        if name is None:
            return None
        try:
            lock = LockFile.decode(self._objects.get(info.key, at_most=LARGEST_LOCK_FILE), what=info.key)
        except NotFound:  # released between the listing and now
            return None
        except DamagedMetadata:
            return SeenLock(name, None, acquired=True, modified_at=info.modified_at)
        return SeenLock(name, lock.type, lock.acquired, info.modified_at)

    def _write(self, *, acquired: bool) -> None:
        # Noted before the write: the store's time of it can only be later.
        began = self._shop.clock.monotonic()
        self._objects.put(self._key, LockFile(self._file.name, self._file.type, acquired).encode())
        self._refreshed_at = began

    def _keep(self) -> None:
        while not self._shop.wait(REFRESH_SECONDS, self._released):
            with contextlib.suppress(TidegateError):  # tried again in a minute; `check` tells when it is too late
                self._refresh()

    def _refresh(self) -> None:
        """Say again that we are alive, unless there was a time in which nobody could believe it."""
        with self._writing:
            try:
                self._objects.head(self._key)
            except NotFound:  # somebody cleared the volume's locks; saying it again would hide that
                self._lost = True
                return
            self._write(acquired=True)
            modified_at = self._objects.head(self._key).modified_at
            if self._modified_at is not None and modified_at - self._modified_at > EXPIRY:
                self._lost = True
            self._modified_at = modified_at

    def _clear_leftovers(self) -> None:
        with contextlib.suppress(TidegateError):  # the next one will do it; the work itself is done
            if not self._met_the_dead and not has_leftovers(self._objects, self._volume):
                return
            self.confirm()
            clear_leftovers(self._objects, self._volume)

    def _pause(self, seconds: float) -> None:
        if self._shop.wait(seconds, self._cancelled):
            raise WorkCancelled("cancelled while waiting for the volume's lock")

    def _withdraw(self) -> None:
        # If even this fails, the lock expires by itself.
        with contextlib.suppress(Exception):
            self._objects.delete(self._key)
