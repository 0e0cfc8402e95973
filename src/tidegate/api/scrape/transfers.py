"""What the gates of transfers look like to a scrape: who waits for what, which slots are taken."""

from collections.abc import Iterator

from prometheus_client.core import GaugeMetricFamily, Metric

from tidegate.api.services import Services
from tidegate.decide.transfers.gate_surroundings import GateSurroundings
from tidegate.decide.transfers.waits import TransferWaits
from tidegate.model.reasons import Reason
from tidegate.state.transfers import TransferTable

_WHY_TRANSFERS_WAIT = (
    Reason.PENDING_EVALUATION,
    Reason.TARGET_UNAVAILABLE,
    Reason.STORE_IDENTITY_MISSING,
    Reason.STORE_IDENTITY_CHANGED,
    Reason.DEPENDENCY,
    Reason.RESTORES_DISABLED,
    Reason.RESTORE_LIMIT,
    Reason.PREPARE_QUEUE_FULL,
    Reason.NODE_LOAD,
    Reason.WAITING_FOR_LOCK,
)


async def gate_families(services: Services) -> list[Metric]:
    """All series about the gates, as they are now."""
    return list(_families(services.state.transfers, await services.state.around_gates()))


def _families(table: TransferTable, around: GateSurroundings) -> Iterator[Metric]:
    reasons = TransferWaits(table, around).reasons()
    waiting = GaugeMetricFamily("tidegate_transfers_waiting", "Transfers that wait, by reason.", labels=["reason"])
    for reason in _WHY_TRANSFERS_WAIT:
        waiting.add_metric([reason], reasons[reason])
    yield waiting
    in_line = sum(len(lane) for key, lane in table.new.items() if key.restore and not key.has_slot)
    yield GaugeMetricFamily("tidegate_restores_in_progress", "Volume restores that hold a slot.", value=table.restoring)
    yield GaugeMetricFamily("tidegate_restores_waiting", "Volume restores that have no slot yet.", value=in_line)
    yield from _nodes(table, around)


def _nodes(table: TransferTable, around: GateSurroundings) -> Iterator[Metric]:
    """Every node is there, at zero too, and one that is gone as long as transfers name it."""
    carried = GaugeMetricFamily("tidegate_node_transfers", "Transfers on a node, by state.", labels=["node", "state"])
    limit = GaugeMetricFamily("tidegate_node_transfers_limit", "How many a node may move at once.", labels=["node"])
    named = {node for (node, _), number in table.carried.items() if node and number}
    for node in sorted(named | around.nodes.keys()):
        moving, both = (counts[node, True] + counts[node, False] for counts in (table.moving, table.carried))
        carried.add_metric([node, "preparing"], both - moving)
        carried.add_metric([node, "moving"], moving)
        if node in around.nodes:
            limit.add_metric([node], around.nodes[node].total)
    yield carried
    yield limit
