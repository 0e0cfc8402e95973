"""What this server knows of locks in stores: those of movers that it saw end, and those that it met and when.

Nothing of it must survive: a lock that nobody knows dies by itself.
"""

from datetime import datetime, timedelta

from tidegate.model.transfers.mover_job import DownloadJob, RemoveJob, UploadJob

Job = UploadJob | DownloadJob | RemoveJob
# Longhorn's number: a living client writes its lock anew each minute.
EXPIRY = timedelta(seconds=150)
_Place = tuple[str, str]


class KnownLocks:
    """By the store's address and the volume."""

    def __init__(self) -> None:
        self._dead: dict[_Place, dict[str, None]] = {}
        self._met: dict[_Place, dict[str, datetime]] = {}

    def told(self, job: Job, *, now: datetime) -> Job:
        """The job with what is known of locks in its way."""
        place = _place(job)
        stale = (lock for lock, since in self._met.get(place, {}).items() if now - since > EXPIRY)
        return job.replace(dead_locks=tuple(self._dead.get(place, ())), stale_locks=tuple(stale))

    def owner_died(self, job: Job, lock: str) -> None:
        """A mover with this job is surely gone, and did not give its lock back."""
        self._dead.setdefault(_place(job), {})[lock] = None

    def met(self, job: Job, lock: str, *, now: datetime) -> None:
        """This lock was in the way of a mover. One that was written anew meanwhile is another sighting."""
        before = self._met.get(_place(job), {})
        self._met[_place(job)] = {lock: before.get(lock, now)}

    def done(self, job: Job) -> None:
        """The work was done: its dead locks are gone, and nothing is in the way."""
        place = _place(job)
        for lock in job.dead_locks:
            self._dead.get(place, {}).pop(lock, None)
        if not self._dead.get(place):
            self._dead.pop(place, None)
        if not (isinstance(job, RemoveJob) and job.only_dead_locks):
            self._met.pop(place, None)


def _place(job: Job) -> _Place:
    return job.target.url, job.store_volume
