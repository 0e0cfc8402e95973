"""How far the work is, told often enough to be alive and seldom enough to be cheap."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from tidegate.model.transfers.mover_job import ProgressReport
from tidegate.model.transfers.transfer_progress import TransferProgress
from tidegate.ports.clock import Clock

_INTERVAL_SECONDS = 0.25
_ALIVE_SECONDS = 15.0
# The rate is that of the recent past: what a person means by "now".
_RATE_SECONDS = 15.0

# An upload reads and sends side by side. It is said to send while anything has gone to the store of late, and to read
# while all that it meets is there already: so the word follows the work, and does not change with every block.
READING = "reading"
UPLOADING = "uploading"
_SENT_OF_LATE_SECONDS = 15.0


class Progress:
    """Counts bytes from many threads; reports each new stage at once and bytes at most four times a second."""

    def __init__(self, report: Callable[[ProgressReport], None], clock: Clock) -> None:
        self._report = report
        self._clock = clock
        self._lock = threading.Lock()
        self._now = TransferProgress()
        self._reported_at = clock.monotonic()
        self._samples: deque[tuple[float, int]] = deque()
        self._sending = 0
        self._sent_at = clock.monotonic()

    def enter(self, stage: str, *, total_bytes: int | None = None, size: int | None = None) -> None:
        """Begin a stage; its bytes count from zero. `size` is that of the volume, as people count it."""
        with self._lock:
            self._samples.clear()
            self._samples.append((self._clock.monotonic(), 0))
            self._now = TransferProgress(stage=stage, total_bytes=total_bytes, size=size)
            self._tell()

    def keep(self, stage: str) -> None:
        """Begin a stage in which nothing more is counted; the bytes stay as they are."""
        with self._lock:
            self._now = self._now.replace(stage=stage, bytes_per_second=None)
            self._tell()

    def go_on_with(self, stage: str) -> None:
        """Begin a stage that belongs to the same whole: its bytes count on from those that are done."""
        with self._lock:
            self._samples.clear()
            self._samples.append((self._clock.monotonic(), self._now.bytes_done))
            self._now = self._now.replace(stage=stage, bytes_per_second=None)
            self._tell()

    def expect(self, total_bytes: int, *, size: int | None = None) -> None:
        """The stage, or the volume, turns out to be larger or smaller than it looked when it began."""
        with self._lock:
            self._now = self._now.replace(total_bytes=max(self._now.bytes_done, total_bytes), size=size)

    def add(self, count: int) -> None:
        """So many more bytes are done."""
        with self._lock:
            done = self._now.bytes_done + count
            # The last block of a volume may be padding in part; more than all of it is never done.
            done = done if self._now.total_bytes is None else min(done, self._now.total_bytes)
            self._now = self._now.replace(bytes_done=done)
            if self._clock.monotonic() - self._reported_at >= _INTERVAL_SECONDS:
                self._now = self._now.replace(bytes_per_second=self._rate())
                if self._now.stage == UPLOADING and self._sent_nothing_of_late():
                    self._now = self._now.replace(stage=READING)
                self._tell()

    @contextmanager
    def sending(self) -> Iterator[None]:
        """Something goes to the store inside: what was only reading uploads from now on, and says so at once."""
        with self._lock:
            self._sending += 1
            if self._now.stage == READING:
                self._now = self._now.replace(stage=UPLOADING)
                self._tell()
        try:
            yield
        finally:
            with self._lock:
                self._sending -= 1
                self._sent_at = self._clock.monotonic()

    def alive(self) -> None:
        """The work goes on, though there is nothing to count: said seldom, so that nobody takes it for stuck."""
        if self._clock.monotonic() - self._reported_at >= _ALIVE_SECONDS:
            with self._lock:
                self._tell()

    def _sent_nothing_of_late(self) -> bool:
        return not self._sending and self._clock.monotonic() - self._sent_at >= _SENT_OF_LATE_SECONDS

    def _rate(self) -> float | None:
        now = self._clock.monotonic()
        self._samples.append((now, self._now.bytes_done))
        while len(self._samples) > 2 and now - self._samples[1][0] >= _RATE_SECONDS:  # noqa: PLR2004  two make a rate
            self._samples.popleft()
        began, before = self._samples[0]
        return (self._now.bytes_done - before) / (now - began) if now > began else None

    def _tell(self) -> None:
        self._reported_at = self._clock.monotonic()
        self._report(ProgressReport(progress=self._now))
