"""Where movers run: child processes on one machine, pods on Kubernetes."""

from collections.abc import AsyncIterator
from typing import Protocol

from tidegate.model.transfers.mover_job import (
    DownloadJob,
    ErrorReport,
    ProgressReport,
    ReadyReport,
    RemoveJob,
    ResultReport,
    UploadJob,
)

Job = UploadJob | DownloadJob | RemoveJob
Report = ReadyReport | ProgressReport | ResultReport | ErrorReport


class Mover(Protocol):
    """One piece of work that has been started."""

    @property
    def lock(self) -> str:
        """The name of the lock that it takes in the store; it is surely dead when its last words are told."""
        ...

    def reports(self) -> AsyncIterator[Report]:
        """What the mover says, ending with exactly one ResultReport or ErrorReport, whatever happens to it.

        Before it moves bytes it says ReadyReport, once, and waits; a removal does not wait. A mover that dies without
        last words gets an ErrorReport that tells how it died. To be read once.
        """
        ...

    def go(self) -> None:
        """Let it move bytes; said before it is ready, it does not wait then. Repeating it is harmless."""
        ...

    def tell_bandwidth(self, *, upload: int | None, download: int | None) -> None:
        """From now on at most so many bytes per second; None is no limit. A mover that is gone hears nothing."""
        ...

    def cancel(self) -> None:
        """Ask it to stop; it ends with an ErrorReport of code WorkCancelled, or with what it reached before."""
        ...


class MoverHost(Protocol):
    """Starts movers and never leaves one behind: closing the host ends all of them and waits for that."""

    async def start(self, job: Job) -> Mover:
        """Start a mover for this job; it opens what it needs and moves nothing before `go`.

        Raises RetryableError if none can be started now.
        """
        ...

    async def close(self) -> None:
        """Cancel what runs, wait for the end of all of it, force it where asking does not help."""
        ...
