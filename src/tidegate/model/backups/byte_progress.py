"""How far something is in bytes: percent and time left, never more than is known."""

from dataclasses import dataclass
from datetime import timedelta

from tidegate.model.frozen import Model

# An estimate beyond this is the noise of a rate near zero, not news.
LONGEST_ETA = timedelta(days=100)
_ALL = 100


@dataclass(frozen=True)
class ByteProgress:
    """How far one transfer, or a whole job, is. `done` never exceeds `total`."""

    done: int = 0
    total: int | None = None
    """Bytes in all, measured or as they were last known. None: nothing is known of it."""
    rate: float | None = None
    """Bytes per second right now; None while nothing moves or no mover has measured."""
    stage: str = ""
    unmeasured: int = 0
    """Volumes of a job whose size is not known at all: the whole is at least `total`."""
    lost: int = 0
    """Bytes of volumes that failed: part of the whole, and no longer on their way."""
    final: bool = False
    """Whether the work is over. Only then may it be at 100 %."""

    @property
    def percent(self) -> int | None:
        """Whole percent, rounded down, and 99 at most until it is over; None while the whole is not known."""
        if self.unmeasured:
            return None
        share = percent(self.done, self.total)
        return share if share is None or self.final else min(share, _ALL - 1)

    @property
    def left(self) -> timedelta | None:
        """How long the rest takes at this rate; None where any answer would be a guess, and once nothing is left."""
        if self.total is None or self.unmeasured or self.final or self.done + self.lost >= self.total:
            return None
        return time_left(self.done + self.lost, self.total, self.rate)


class JobBytes(Model):
    """How many bytes a job has moved, of all that it is to move from its start to its end."""

    done: int = 0
    total: int | None = None
    """Of all its volumes, also of those that wait: measured, or until then as they were last known."""
    volumes_not_measured: int = 0
    """Volumes whose size is not known at all yet. If there are any, the whole is at least `total`."""
    percent: int | None = None
    """Whole percent, rounded down; 100 only when the job is over. Absent while a size is unknown."""
    bytes_per_second: float | None = None
    seconds_left: int | None = None
    """At the present rate. Absent until that means something."""

    @classmethod
    def of(cls, progress: ByteProgress) -> "JobBytes":
        """The same numbers as they are told to clients."""
        left = progress.left
        return cls(
            done=progress.done,
            total=progress.total,
            volumes_not_measured=progress.unmeasured,
            percent=progress.percent,
            bytes_per_second=progress.rate,
            seconds_left=None if left is None else round(left.total_seconds()),
        )

    def as_progress(self, *, final: bool) -> ByteProgress:
        """The same to go on reckoning with."""
        return ByteProgress(
            done=self.done,
            total=self.total,
            rate=self.bytes_per_second,
            unmeasured=self.volumes_not_measured,
            final=final,
        )

    def at_rest(self) -> "JobBytes":
        """What is worth storing: what holds only for a moment is left out."""
        return self.replace(bytes_per_second=None, seconds_left=None)

    def at_end(self) -> "JobBytes":
        """The same once the job is over: nothing keeps it from 100 % any more."""
        return self.replace(percent=percent(self.done, self.total)).at_rest()


def percent(done: int, total: int | None) -> int | None:
    """Whole percent, rounded down so that 100 means done; None when the whole is not known."""
    if total is None or total <= 0:
        return None
    return max(0, min(_ALL, done * _ALL // total))


def time_left(done: int, total: int | None, bytes_per_second: float | None) -> timedelta | None:
    """How long the rest takes at this rate, to whole seconds; None where any answer would be a guess."""
    if total is None or not bytes_per_second or bytes_per_second <= 0:
        return None
    seconds = max(0, total - done) / bytes_per_second
    if seconds > LONGEST_ETA.total_seconds():
        return None
    return timedelta(seconds=round(seconds))
