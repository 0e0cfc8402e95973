"""Where movers run: child processes on one machine, pods on Kubernetes."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Protocol, Self

from tidegate.model.transfers.mover_job import (
    MOVER_DIED,
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


@dataclass(frozen=True, kw_only=True)
class Orders:
    """What a mover is to do, as a whole: the last orders count, and giving them again changes nothing.

    `go` and `cancel` are one way: a later value without them takes neither back.
    """

    go: bool = False
    """Move bytes. A mover that is not ready yet does not wait once it is."""
    upload: int | None = None
    """At most so many bytes per second to the store; None is no limit."""
    download: int | None = None
    """The same, from the store."""
    cancel: bool = False
    """Stop; the mover ends with an ErrorReport of code WorkCancelled, or with what it reached before."""

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401  # whatever the fields are
        """A copy with `changes`."""
        return replace(self, **changes)


@dataclass(frozen=True, kw_only=True)
class HostedMover:
    """What a host keeps beside a mover, as labels: enough to adopt it, and no secret."""

    name: str
    node: str
    action: Literal["upload", "download", "remove"]
    lock: str
    """The lock that it takes in the store. It is dead once the mover's last words are known."""
    store_url: str
    store_volume: str


def labels_of(name: str, node: str, job: Job) -> HostedMover:
    """The labels of a mover with this job."""
    return HostedMover(
        name=name,
        node=node,
        action=job.action,
        lock=job.lock,
        store_url=job.target.url,
        store_volume=job.store_volume,
    )


async def unknown_mover(name: str) -> AsyncIterator[Report]:
    """The reports of a mover that the host does not know."""
    yield ErrorReport(code=MOVER_DIED, message=f"the mover {name} is not there any more")


class MoverHost(Protocol):
    """Runs movers by name. What is asked of it is a state, so each call may be repeated.

    A mover keeps its name, also after its end, until `stop`: its outcome can be fetched until then. Names are any text
    without secrets, derived from what the mover works for.
    """

    @property
    def outlives_server(self) -> bool:
        """Whether movers go on when their server ends, so that the next one can adopt them."""
        ...

    async def ensure(self, name: str, node: str, job: Job) -> HostedMover:
        """Start a mover on this node, unless one has the name: that one is left as it is, with the job it has.

        It opens what it needs and, unless it removes, moves nothing before it is ordered to go. Until its first orders
        it keeps to the limits in its job. Raises RetryableError if none can be started now, also while an earlier one
        of this name is still ending.
        """
        ...

    async def list(self) -> Sequence[HostedMover]:
        """All that have a name, whichever server started them; those that have ended, too.

        Raises RetryableError: a failed list is never an empty one.
        """
        ...

    def adopt(self, name: str) -> AsyncIterator[Report]:
        """What it has said and says, ending with exactly one ResultReport or ErrorReport, whatever happens to it.

        What was said before comes first, as far as it matters: ReadyReport, then the newest ProgressReport, then its
        last words. ReadyReport comes once, before bytes move; a removal says none. A mover that dies without last words
        gets an ErrorReport of code MoverDied that says how it died; so does a name that the host does not know. May be
        called again, also after the end.
        """
        ...

    def order(self, name: str, orders: Orders) -> None:
        """From now on these are its orders. Returns at once. A mover that has ended ignores them."""
        ...

    async def stop(self, name: str) -> None:
        """End it if it runs, by force where asking does not help, and give up its name and its outcome.

        Returns at once: `list` names a mover that still ends. Harmless for a name that the host does not know.
        """
        ...

    async def close(self) -> None:
        """Let go of all movers. Where they do not outlive their server, end them first, and wait until all are gone."""
        ...
