"""What this server finds of work that another one began. Nothing runs before the reconcilers: each asks here first.

Movers that go on are adopted once, before anything is decided about their transfers. What was under way then stays
undecided until its own reconciler has seen whether it can go on; requests before their transfers, so that a crash in
between leaves requests that have failed, never ones that look alive.
"""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from tidegate.controllers.movers.names import removal_of, volume_of
from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.reconcile.observation import all_of, all_transfers
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Ref
from tidegate.model.stores.deletion import Deletion
from tidegate.model.transfers.transfer import Transfer, TransferPhase
from tidegate.ports.resource_store import ResourceStore


@dataclass
class Takeover:
    """Knows which backups this server carries, and which transfers are yet to be looked at by it."""

    store: ResourceStore
    movers: MoverSupervisor
    settled: Callable[[], None] = lambda: None
    """Called whenever a transfer goes on, so that gates may let it through."""
    _begun: bool = False
    _beginning: asyncio.Lock = field(default_factory=asyncio.Lock)
    _carried: dict[str, int] = field(default_factory=dict)
    """Backups by uid, and which attempt of each."""
    _held: dict[Ref, str] = field(default_factory=dict)
    """Transfers that nothing was decided about, and the uid of the request of each."""
    _of_request: dict[str, set[Ref]] = field(default_factory=lambda: defaultdict(set))

    async def begin(self) -> None:
        """Return once the movers that go on are adopted. Raises RetryableError if they cannot be listed."""
        async with self._beginning:
            if self._begun:
                return
            transfers = [one for one in await all_transfers(self.store) if not one.status.phase.final]
            await self.movers.adopt(await self._claims(transfers))
            for transfer in transfers:
                self._hold(transfer)
            self._begun = True

    def movers_of(self, uploads: Iterable[Transfer]) -> set[str] | None:
        """Those of the uploads that have a mover, by uid; None where no mover outlives its server."""
        if not self.movers.host.outlives_server:
            return None
        return {one.metadata.uid for one in uploads if self.movers.look(one.metadata.uid)}

    def carries(self, backup: Backup) -> bool:
        """Whether this server began this attempt, or has seen what becomes of it."""
        return self._carried.get(backup.metadata.uid) == backup.status.attempt

    def decided(self) -> Mapping[str, int]:
        """Those as of now: the uids of backups, and which attempt of each."""
        return dict(self._carried)

    def carry(self, backup: Backup) -> None:
        """This server carries it from now on, or has broken it off; its transfers are looked at next."""
        self._carried[backup.metadata.uid] = backup.status.attempt
        for ref in self._of_request.get(backup.metadata.uid, ()):
            self.movers.wake(ref)

    def drop(self, backup: Backup) -> None:
        """It is over."""
        self._carried.pop(backup.metadata.uid, None)

    def holds(self, transfer: Ref) -> bool:
        """Whether it is not known yet what becomes of this transfer."""
        return transfer in self._held

    def settle(self, transfer: Ref) -> None:
        """It is known, and written."""
        request = self._held.pop(transfer, None)
        if request is not None:
            self._of_request[request].discard(transfer)
            self.settled()

    def _hold(self, transfer: Transfer) -> None:
        request = next((owner.uid for owner in transfer.metadata.owner_references), "")
        self._held[transfer.ref] = request
        self._of_request[request].add(transfer.ref)

    async def _claims(self, transfers: list[Transfer]) -> Mapping[str, Ref]:
        """The names of movers that something waits for. A transfer that is New has none: it begins anew."""
        deletions = [one for one in await all_of(self.store, Deletion) if not one.status.phase.final]
        removals = {removal_of(volume_of(one)): volume_of(one) for one in deletions}
        moved = [one for one in transfers if one.status.phase is not TransferPhase.NEW]
        return removals | {one.metadata.uid: one.ref for one in moved}
