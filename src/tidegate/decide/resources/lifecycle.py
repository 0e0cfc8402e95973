"""What a write to a resource means: the rules of the ResourceStore that do not depend on where resources live.

Pure. A store looks up what is there now, asks here, and carries out the answer. Wishes about what belongs to the store
(uid, generation, versions, the times of creation and deletion) are not refused but have no effect: callers hand back
what they were given, and nobody should have to clear it first.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, TypeVar, cast

from tidegate.decide.resources.cancelling import cancelled, keeping_cancel
from tidegate.errors import Refused, StaleVersion
from tidegate.model.resource import Resource

R = TypeVar("R", bound=Resource)


@dataclass(frozen=True)
class Unchanged(Generic[R]):
    """The wish is already fulfilled: nothing is written, nobody is told."""

    resource: R


@dataclass(frozen=True)
class Stored(Generic[R]):
    """The resource as it has to be from now on."""

    resource: R


@dataclass(frozen=True)
class Removed(Generic[R]):
    """The resource vanishes; what is shown is how it was right before."""

    resource: R


Plan = Unchanged[R] | Stored[R] | Removed[R]


def on_create(wanted: R, *, version: str, uid: str, now: datetime) -> Stored[R]:
    """Take over everything that is the caller's but the status; that and the store's own fields begin here."""
    born = wanted.with_metadata(
        uid=uid, resource_version=version, generation=1, creation_timestamp=now, deletion_timestamp=None
    )
    return Stored(born.replace(status=type(wanted.status)()))


def on_update(current: R, wanted: R, *, version: str) -> Plan[R]:
    """Take over spec, labels, annotations, finalizers and owners; never the status or the request to cancel."""
    _check_newest(current, wanted)
    wanted = cast("R", keeping_cancel(current, wanted))
    _check_finalizers(current, wanted)
    theirs = current.metadata.replace(
        labels=wanted.metadata.labels,
        annotations=wanted.metadata.annotations,
        finalizers=wanted.metadata.finalizers,
        owner_references=wanted.metadata.owner_references,
    )
    spec_changed = wanted.spec != current.spec
    if not spec_changed and theirs == current.metadata:
        return Unchanged(current)
    if spec_changed:
        theirs = theirs.replace(generation=theirs.generation + 1)
    changed = current.replace(metadata=theirs, spec=wanted.spec)
    if changed.deleting and not changed.metadata.finalizers:
        return Removed(changed)
    return Stored(changed.with_metadata(resource_version=version))


def on_status(current: R, wanted: R, *, version: str) -> Plan[R]:
    """Take over the status and nothing else."""
    _check_newest(current, wanted)
    if wanted.status == current.status:
        return Unchanged(current)
    return Stored(
        current.replace(status=wanted.status, metadata=current.metadata.replace(resource_version=version)),
    )


def on_cancel(current: R, *, version: str) -> Plan[R]:
    """Set the request to cancel and nothing else, whatever version the caller has seen."""
    wanted = cast("R", cancelled(current))
    if wanted.spec == current.spec:
        return Unchanged(current)
    return Stored(wanted.with_metadata(resource_version=version, generation=current.metadata.generation + 1))


def on_delete(current: R, *, now: datetime, version: str) -> Plan[R]:
    """Remove, or mark while somebody must still clean up. The first mark stays: it says when deletion was asked for."""
    if not current.metadata.finalizers:
        return Removed(current)
    if current.deleting:
        return Unchanged(current)
    return Stored(current.with_metadata(deletion_timestamp=now, resource_version=version))


def is_orphan(resource: Resource, *, lives: Callable[[str], bool]) -> bool:
    """Whether it had owners and the last of them is gone; `lives` tells whether a uid still exists."""
    owners = resource.metadata.owner_references
    return bool(owners) and not any(lives(owner.uid) for owner in owners)


def _check_newest(current: Resource, wanted: Resource) -> None:
    # A namesake that came later has another uid; versions never come twice, so this only catches a confused caller.
    same = wanted.metadata.uid in {"", current.metadata.uid}
    if not same or wanted.metadata.resource_version != current.metadata.resource_version:
        raise StaleVersion(
            f"{current.ref} is at version {current.metadata.resource_version}, "
            f"the write was made for {wanted.metadata.resource_version or 'none'}; observe again"
        )


def _check_finalizers(current: Resource, wanted: Resource) -> None:
    added = set(wanted.metadata.finalizers) - set(current.metadata.finalizers)
    # Whoever comes too late would hold up a deletion that others already count on.
    if current.deleting and added:
        raise Refused(f"{current.ref} is being deleted; {', '.join(sorted(added))} cannot hold it up any more")
