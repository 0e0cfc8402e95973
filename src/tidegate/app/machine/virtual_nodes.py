"""The nodes of this server: the machine itself, or several that a file names and that all are this machine.

Virtual nodes have labels, slots and limits like real ones, so rules and bursts can be tried on one machine; their
movers are children of this server.
"""

import re
import socket
from collections.abc import Sequence

import structlog

from tidegate.errors import AlreadyExists
from tidegate.model.resource import Condition, Metadata
from tidegate.model.transfers.node import Node, NodeSpec, NodeStatus
from tidegate.model.transfers.virtual_node import VirtualNode
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

_GONE = "the server was started without it; name it in the file of --nodes, or let its transfers end or cancel them"


async def register_nodes(store: ResourceStore, named: Sequence[VirtualNode], *, clock: Clock) -> str:
    """Make the stored nodes those of this start; returns the one for transfers that name none.

    A node of an earlier start stays, not ready: transfers and volumes may name it, and whoever waits for it shall find
    it and read why. Safe to repeat; a start that is interrupted in between is made good by the next one.
    """
    wanted = {node.name: node for node in named or (this_machine(),)}
    for node in wanted.values():
        await _register(store, node)
    for stored in (await store.list(Node)).items:
        if stored.name not in wanted and stored.status.ready:
            await store.update_status(stored.replace(status=_not_ready(stored.status, clock)))
            log.warning("node is not ready", node=stored.name, reason=_GONE)
    return next(iter(wanted))


def this_machine() -> VirtualNode:
    """This machine as a node like any other: limits and reasons name it."""
    host = re.sub(r"[^a-z0-9.-]+", "-", socket.gethostname().lower())[:63].strip("-.")
    return VirtualNode(name=host or "localhost")


async def _register(store: ResourceStore, node: VirtualNode) -> None:
    spec, labels = NodeSpec(slots=node.slots), node.all_labels
    try:
        stored = await store.create(Node(metadata=Metadata(name=node.name, labels=labels), spec=spec))
    except AlreadyExists:
        stored = await store.get(Node, node.name)
        stored = await store.update(stored.replace(spec=spec).with_metadata(labels=labels))
    status = stored.status.without_condition("Ready").replace(ready=True)
    await store.update_status(stored.replace(status=status))


def _not_ready(status: NodeStatus, clock: Clock) -> NodeStatus:
    condition = Condition(
        type="Ready", status="False", reason="NotNamed", message=_GONE, last_transition_time=clock.now()
    )
    return status.with_condition(condition).replace(ready=False)
