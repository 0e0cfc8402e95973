"""Looks at a transfer that another server began, once, before this one carries it on."""

from dataclasses import dataclass

import structlog

from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.movers.takeover import Takeover
from tidegate.decide.backups.interruption import awaits_takeover
from tidegate.decide.transfers.takeover import Request, taken_over
from tidegate.errors import NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.restores.restore import Restore
from tidegate.model.transfers.transfer import Transfer
from tidegate.model.verification.verification import Verification
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

_REQUESTS: dict[str, type[Request]] = {"Backup": Backup, "Restore": Restore, "Verification": Verification}


@dataclass
class TransferTakeover:
    """Writes what `decide.transfers.takeover` says."""

    store: ResourceStore
    clock: Clock
    movers: MoverSupervisor
    takeover: Takeover

    async def goes_on(self, transfer: Transfer) -> bool:
        """Whether it may be carried on as it is. If not, it was changed, or is woken again once that is known."""
        # Before the look: a backup that is decided while we look is looked at again, for it wakes us then.
        decided = self.takeover.decided()
        request = await self._request(transfer)
        if isinstance(request, Backup) and awaits_takeover(request, decided):
            return False
        has_mover = self.movers.look(transfer.metadata.uid) is not None
        after = taken_over(transfer, request, has_mover=has_mover, now=self.clock.now())
        if after is not transfer:
            await self._write(transfer, after)
            log.warning("interrupted by the end of the last server", what=str(transfer.ref))
        self.takeover.settle(transfer.ref)
        return after is transfer

    async def _write(self, transfer: Transfer, after: Transfer) -> None:
        if after.metadata.labels != transfer.metadata.labels:
            # The attempt is counted first: one that ends the server each time would else be tried for ever.
            metadata = {"labels": after.metadata.labels, "annotations": after.metadata.annotations}
            counted = await self.store.update(transfer.with_metadata(**metadata))
            after = after.with_metadata(resource_version=counted.metadata.resource_version)
        await self.store.update_status(after)

    async def _request(self, transfer: Transfer) -> Request | None:
        for owner in transfer.metadata.owner_references:
            if (kind := _REQUESTS.get(owner.kind)) is None:
                continue
            try:
                found = await self.store.get(kind, owner.name)
            except NotFound:
                continue
            if found.metadata.uid == owner.uid:
                return found
        return None
