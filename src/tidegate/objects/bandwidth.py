"""Limits on how fast bytes go to and come from stores, for all threads of a process together.

Each direction is a line that bytes stand in. Who wants to move some takes the next places in it, and goes when the line
has passed them: so threads go in the order in which they asked, and a new rate is felt by all who wait. Work is per
object, never per byte. An object goes to the network as a whole; it is paid for before.
"""

import threading
from collections.abc import Callable

from tidegate.errors import WorkCancelled
from tidegate.format.cfgs.paths import block_checksum_of, lock_name_of
from tidegate.objects.pass_through import PassThrough
from tidegate.ports.object_store import KeepsUnfinished, ObjectStore

# What an idle line may save up, as time at its rate.
_BURST_SECONDS = 0.5
# Who waits looks this often whether the rate has changed.
_LOOK_SECONDS = 0.25
# Waits so many seconds, or until the event is set: then True.
Wait = Callable[[float, threading.Event], bool]


def _wait_in_thread(seconds: float, stop: threading.Event) -> bool:
    return stop.wait(seconds)


class Bandwidth:
    """Keeps the BandwidthLimits' promise. In any stretch of time no more passes than rate x (time + half a second)."""

    def __init__(self, monotonic: Callable[[], float], wait: Wait = _wait_in_thread) -> None:
        self.upload = Line(monotonic, wait)
        self.download = Line(monotonic, wait)

    def set(self, *, upload: int | None, download: int | None) -> None:
        """See BandwidthLimits."""
        self.upload.set(upload)
        self.download.set(download)

    def limited(self, objects: ObjectStore, stop: threading.Event) -> ObjectStore:
        """See BandwidthLimits."""
        if isinstance(objects, KeepsUnfinished):
            return LimitedFiles(objects, self, stop)
        return LimitedObjects(objects, self, stop)


class Line:
    """One direction. Counts bytes: how many have asked, and how many were let pass so far."""

    def __init__(self, monotonic: Callable[[], float], wait: Wait) -> None:
        self._monotonic = monotonic
        self._wait = wait
        self._lock = threading.Lock()
        self._rate: int | None = None
        self._asked = 0.0
        self._passed = 0.0
        self._counted_at = monotonic()

    def set(self, rate: int | None) -> None:
        """Bytes per second from now on."""
        with self._lock:
            self._count()
            self._rate = rate

    @property
    def limited(self) -> bool:
        """Whether anybody may have to wait."""
        return self._rate is not None

    def take(self, count: int, stop: threading.Event) -> None:
        """Return once `count` bytes may go, in the order of asking. Raises WorkCancelled once `stop` is set."""
        with self._lock:
            self._count()
            self._asked += count
            mine = self._asked
        while (seconds := self._seconds_until(mine)) > 0:
            if self._wait(min(seconds, _LOOK_SECONDS), stop):
                self.give_back(count)
                raise WorkCancelled("the work was cancelled while it waited for bandwidth")

    def charge(self, count: int) -> None:
        """Bytes that have gone without asking: those who ask from now on wait for them too."""
        with self._lock:
            self._count()
            self._asked += count

    def give_back(self, count: int) -> None:
        """Bytes that were taken and did not go: the line moves on by as many."""
        with self._lock:
            self._count()
            self._passed += count
            self._count()

    def _seconds_until(self, place: float) -> float:
        with self._lock:
            self._count()
            if self._rate is None or self._passed >= place:
                return 0
            # Never so short that rounding could keep it from ever being over.
            return max((place - self._passed) / self._rate, 0.001)

    def _count(self) -> None:
        now = self._monotonic()
        if self._rate is None:
            self._passed = self._asked
        else:
            passed = self._passed + self._rate * (now - self._counted_at)
            self._passed = min(passed, self._asked + self._rate * _BURST_SECONDS)
        self._counted_at = now


class LimitedObjects(PassThrough):
    """Passes everything on, within the bandwidth; each block costs what really came.

    Locks are counted but never wait: a silent one counts as dead.
    """

    def __init__(self, inner: ObjectStore, bandwidth: Bandwidth, stop: threading.Event) -> None:
        super().__init__(inner)
        self._bandwidth = bandwidth
        self._stop = stop
        # Nobody knows how large a block is before it is there: probably like the one before it.
        self._last_block: int | None = None
        self._first_block = threading.Lock()

    def get(self, key: str, *, at_most: int) -> bytes:
        """See ObjectStore."""
        if not block_checksum_of(key):
            return self._taken(key, 0, at_most=at_most)
        if self._last_block is None and (body := self._first(key, at_most=at_most)) is not None:
            return body
        body = self._taken(key, self._last_block or 0, at_most=at_most)
        self._last_block = len(body)
        return body

    def _first(self, key: str, *, at_most: int) -> bytes | None:
        """The first block, paid for once it is there; the others wait until its size is known. None: one came."""
        if not self._bandwidth.download.limited:
            return None
        with self._first_block:
            if self._last_block is not None:
                return None
            body = self._inner.get(key, at_most=at_most)
            self._last_block = len(body)
        self._bandwidth.download.take(len(body), self._stop)
        return body

    def _taken(self, key: str, expected: int, *, at_most: int) -> bytes:
        line = self._bandwidth.download
        if expected:
            line.take(expected, self._stop)
        try:
            body = self._inner.get(key, at_most=at_most)
        except BaseException:
            line.give_back(expected)
            raise
        if len(body) > expected:
            line.charge(len(body) - expected)
        else:
            line.give_back(expected - len(body))
        return body

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        self._pay(key, body)
        self._inner.put(key, body, lazily=lazily)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore."""
        self._pay(key, body)
        return self._inner.put_if_absent(key, body, lazily=lazily)

    def _pay(self, key: str, body: bytes) -> None:
        if lock_name_of(key):
            self._bandwidth.upload.charge(len(body))
        else:
            self._bandwidth.upload.take(len(body), self._stop)


class LimitedFiles(LimitedObjects):
    """The same for a store of files, where half objects may lie."""

    def __init__(self, inner: ObjectStore, bandwidth: Bandwidth, stop: threading.Event) -> None:
        super().__init__(inner, bandwidth, stop)
        self._files = inner

    def unfinished(self, prefix: str) -> list[str]:
        """See KeepsUnfinished."""
        return self._files.unfinished(prefix) if isinstance(self._files, KeepsUnfinished) else []

    def remove_empty(self, prefix: str) -> None:
        """See KeepsUnfinished."""
        if isinstance(self._files, KeepsUnfinished):
            self._files.remove_empty(prefix)
