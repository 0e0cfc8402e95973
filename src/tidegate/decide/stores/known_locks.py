"""What this server knows of locks in stores: those of movers that it saw end, and those that it met and when.

Nothing of it must survive: a lock that nobody knows dies by itself.
"""

from datetime import datetime, timedelta

from tidegate.model.transfers.mover_job import DownloadJob, RemoveJob, UploadJob

Job = UploadJob | DownloadJob | RemoveJob
# Longhorn's number: a living client writes its lock anew each minute.
EXPIRY = timedelta(seconds=150)
Volume = tuple[str, str]
"""The address of the store, and the volume's name in it."""


class KnownLocks:
    """By store and volume."""

    def __init__(self) -> None:
        self._dead: dict[Volume, dict[str, None]] = {}
        self._met: dict[Volume, dict[str, datetime]] = {}

    def told(self, job: Job, *, now: datetime) -> Job:
        """The job with what is known of locks in its way."""
        volume = _volume_of(job)
        stale = (lock for lock, since in self._met.get(volume, {}).items() if now - since > EXPIRY)
        return job.replace(dead_locks=tuple(self._dead.get(volume, ())), stale_locks=tuple(stale))

    def owner_died(self, volume: Volume, lock: str) -> None:
        """A mover of this volume is surely gone, and did not give its lock back."""
        self._dead.setdefault(volume, {})[lock] = None

    def met(self, volume: Volume, lock: str, *, now: datetime) -> None:
        """This lock was in the way of a mover. One that was written anew meanwhile is another sighting."""
        before = self._met.get(volume, {})
        self._met[volume] = {lock: before.get(lock, now)}

    def done(self, job: Job) -> None:
        """The work was done: its dead locks are gone, and nothing is in the way."""
        volume = _volume_of(job)
        for lock in job.dead_locks:
            self._dead.get(volume, {}).pop(lock, None)
        if not self._dead.get(volume):
            self._dead.pop(volume, None)
        if not (isinstance(job, RemoveJob) and job.only_dead_locks):
            self._met.pop(volume, None)


def _volume_of(job: Job) -> Volume:
    return job.target.url, job.store_volume
