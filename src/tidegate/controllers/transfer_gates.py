"""Lets transfers through their gates: New -> Accepted and Prepared -> InProgress.

One key for all transfers, because each gate counts all of them.
"""

from dataclasses import dataclass

import structlog

from tidegate.controllers.observation import all_of, all_transfers, settings_now, unavailable_targets
from tidegate.controllers.reconciler import Next, Watch, always
from tidegate.decide.transfer_gates import Held, plan_transfers
from tidegate.model.node import Node
from tidegate.model.resource import Ref, Resource
from tidegate.model.setting import Setting
from tidegate.model.target import BackupTarget
from tidegate.model.transfer import TRANSFERS, Transfer, TransferPhase
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

KEY = Ref("TransferGates", "transfer-gates")

_COUNTED: tuple[type[Resource], ...] = (*TRANSFERS, Setting, Node, BackupTarget)


@dataclass
class TransferGates:
    """Owns the steps out of New and out of Prepared, unless the transfer is cancelled there."""

    store: ResourceStore
    clock: Clock
    node: str
    name: str = "transfer-gates"
    workers: int = 1  # check and take are one step: two passes at once could both see the same free slot
    watches: tuple[Watch, ...] = tuple(Watch(kind, always(KEY)) for kind in _COUNTED)

    async def reconcile(self, _key: Ref) -> Next:
        """Look at all transfers once, let through what may go, tell the others why they wait."""
        transfers = {t.ref: t for t in await all_transfers(self.store) if not t.status.phase.final}
        plan = plan_transfers(
            list(transfers.values()),
            await settings_now(self.store),
            node_labels={node.name: node.metadata.labels for node in await all_of(self.store, Node)},
            unavailable_targets=await unavailable_targets(self.store),
        )
        for ref in plan.start:
            await self._write(transfers[ref], phase=TransferPhase.IN_PROGRESS, start_timestamp=self.clock.now())
        for ref in plan.accept:
            now = self.clock.now()
            await self._write(transfers[ref], phase=TransferPhase.ACCEPTED, accepted_timestamp=now, node=self.node)
        for held in plan.wait:
            await self._hold(transfers[held.ref], held)
        return Next.done()

    async def _write(self, transfer: Transfer, **changes: object) -> None:
        status = transfer.status.no_longer_waiting().replace(**changes)
        await self.store.update_status(transfer.replace(status=status))
        log.info("transfer goes on", transfer=str(transfer.ref), phase=str(status.phase))

    async def _hold(self, transfer: Transfer, held: Held) -> None:
        status = transfer.status.waiting(held.reason, held.message, since=self.clock.now())
        if status != transfer.status:
            await self.store.update_status(transfer.replace(status=status))
