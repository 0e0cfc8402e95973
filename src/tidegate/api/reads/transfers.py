"""Looking at the gates for an answer: the server's own table where there is one, else what the store lists."""

from tidegate.api.services import Services
from tidegate.decide.transfers.figures import TransferFigures
from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.table import TransferEntry, TransferTable
from tidegate.decide.transfers.waits import TransferWaits
from tidegate.model.kinds import kind_name
from tidegate.model.resource import Resource
from tidegate.model.setting import Setting, effective_settings
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.node import Node
from tidegate.model.transfers.transfer import TRANSFERS, Transfer


async def transfer_table(services: Services) -> TransferTable:
    """Every transfer that is not over."""
    if services.transfers is not None:
        return services.transfers
    table = TransferTable()
    for kind in TRANSFERS:
        table.replace_all(kind_name(kind), (await services.store.list(kind)).items)
    return table


async def transfer_figures(services: Services) -> TransferFigures:
    """Of every transfer that is stored: where the server keeps count, nothing is read."""
    if services.transfer_figures is not None:
        return services.transfer_figures
    figures = TransferFigures()
    for kind in TRANSFERS:
        figures.replace_all(kind_name(kind), (await services.store.list(kind)).items)
    return figures


async def gates_now(services: Services) -> GateSurroundings:
    """What is no transfer but matters to the gates."""
    store = services.store
    settings = effective_settings(list((await store.list(Setting)).items))
    return GateSurroundings.of(settings, (await store.list(Node)).items, (await store.list(BackupTarget)).items)


async def waits_now(services: Services) -> TransferWaits:
    """Why each transfer waits at this moment: with many of them, what is written down may be older."""
    around = await gates_now(services)
    return TransferWaits(await transfer_table(services), around)


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
