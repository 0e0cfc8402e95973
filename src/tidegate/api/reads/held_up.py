"""Requests of which nothing moves, with what their next volume waits for now: what is written down may be older."""

from collections import defaultdict
from collections.abc import Sequence

from tidegate.api.reads.transfers import waits_now
from tidegate.api.services import Services
from tidegate.decide.transfers.entry import TransferEntry
from tidegate.decide.transfers.held_up import held_up
from tidegate.decide.transfers.waits import TransferWaits
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore, RestorePhase
from tidegate.model.verification.verification import Verification, VerificationPhase


def has_begun_and_waits(resource: Resource) -> bool:
    """Whether it was told that nothing of it moves, though the queue has let it begin."""
    match resource:
        case Restore():
            begun = resource.status.phase is RestorePhase.IN_PROGRESS
        case Verification():
            begun = resource.status.phase is VerificationPhase.IN_PROGRESS
        case _:
            return False
    return begun and resource.status.condition("Waiting") is not None


async def with_reasons_now(services: Services, resources: Sequence[Resource]) -> list[Resource]:
    """The same with fresh words. One look at the table for all of them."""
    waiting = {resource.metadata.uid for resource in resources if has_begun_and_waits(resource)}
    if not waiting:
        return list(resources)
    waits = await waits_now(services)
    mine: dict[str, list[TransferEntry]] = defaultdict(list)
    for entry in services.state.transfers.entries():
        if entry.owner in waiting:
            mine[entry.owner].append(entry)
    return [_explained(resource, mine.get(resource.metadata.uid, []), waits) for resource in resources]


def _explained(resource: Resource, entries: Sequence[TransferEntry], waits: TransferWaits) -> Resource:
    if not isinstance(resource, Restore | Verification):
        return resource
    told = resource.status.condition("Waiting")
    held = held_up(entries, lambda entry: _now(entry, waits))
    since = told.last_transition_time if told else None
    if since is None or held is None or not has_begun_and_waits(resource):
        return resource
    return resource.replace(status=resource.status.waiting(held.reason, held.message, since=since))


def _now(entry: TransferEntry, waits: TransferWaits) -> tuple[str, str]:
    held = waits.why(entry)
    return (held.reason, held.message) if held else ("", "")
