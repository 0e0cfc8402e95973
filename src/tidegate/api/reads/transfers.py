"""Why transfers wait, for an answer."""

from tidegate.api.services import Services
from tidegate.decide.transfers.entry import TransferEntry
from tidegate.decide.transfers.waits import TransferWaits
from tidegate.model.resource import Resource
from tidegate.model.transfers.transfer import Transfer


async def waits_now(services: Services) -> TransferWaits:
    """Why each transfer waits at this moment: with many of them, what is written down may be older."""
    return TransferWaits(services.state.transfers, await services.state.around_gates())


def explained(resource: Resource, waits: TransferWaits) -> Resource:
    """With the reason as it is now, if it waits for a gate."""
    if not isinstance(resource, Transfer) or (held := waits.why(TransferEntry.of(resource))) is None:
        return resource
    told = resource.status.condition("Waiting")
    # A wait that was told keeps its beginning; one that nobody was told of yet began no later than it was seen.
    since = told.last_transition_time if told else resource.metadata.creation_timestamp
    if since is None:
        return resource
    return resource.replace(status=resource.status.waiting(held.reason, held.message, since=since))


def waits_for_gate(resource: Resource) -> bool:
    """Whether it may stand before a gate, so that a look is worth its cost."""
    return isinstance(resource, Transfer) and not resource.status.phase.final and not resource.status.phase.moving
