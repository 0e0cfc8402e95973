"""What can be cancelled, and until when. Pure; the rule of every store for the subresource `cancel`."""

from tidegate.errors import InvalidInput, Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.stores.deletion import Deletion, DeletionPhase
from tidegate.model.transfers.transfer import Transfer
from tidegate.model.verification.verification import Verification

Cancellable = Backup | Restore | Verification | Transfer | Deletion


def cancelled(resource: Resource) -> Cancellable:
    """Return the resource with the request to cancel set.

    Raise InvalidInput for a kind that has no such request, and Refused when it comes too late.
    """
    if not isinstance(resource, Cancellable):
        raise InvalidInput(f"a {resource.kind} cannot be cancelled")
    if why := _refusal(resource):
        raise Refused(f"{resource.kind.lower()} {resource.name} {why}")
    return resource if resource.spec.cancel else resource.with_spec(cancel=True)


def keeping_cancel(current: Resource, wanted: Resource) -> Resource:
    """Return what is wanted with the request to cancel as it is: an update neither sets it nor takes it back."""
    if not isinstance(current, Cancellable) or not isinstance(wanted, Cancellable):
        return wanted
    same = wanted.spec.cancel == current.spec.cancel
    return wanted if same else wanted.with_spec(cancel=current.spec.cancel)


def _refusal(resource: Cancellable) -> str:
    if isinstance(resource, Deletion):
        if resource.status.phase is DeletionPhase.RUNNING:
            return "has begun; what is removed cannot be brought back"
        if resource.spec.upload and not resource.status.phase.final:
            return f"belongs to {resource.spec.upload}, which is being deleted itself"
    if resource.deleting:
        return "is being deleted; there is nothing to cancel"
    if resource.status.phase.final:
        return f"is {resource.status.phase}; there is nothing to cancel"
    return ""
