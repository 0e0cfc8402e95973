"""Writes what the gates decided, each step only if the transfer is still as it was planned for."""

from collections.abc import Awaitable
from dataclasses import dataclass, field

import structlog

from tidegate.decide.jobs.events import with_events
from tidegate.decide.transfers import restore_limit
from tidegate.decide.transfers.entry import TransferEntry
from tidegate.decide.transfers.waits import Held
from tidegate.errors import NotFound, StaleVersion, UserError
from tidegate.model.kinds import KIND_BY_NAME
from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import Transfer, TransferPhase, TransferStatus
from tidegate.ports.clock import Clock
from tidegate.state.server_state import ServerState

log = structlog.get_logger(__name__)


@dataclass
class GateWriter:
    """A transfer that changed in between is left for the next pass."""

    state: ServerState
    clock: Clock
    conflicts: int = field(default=0, init=False)
    """Writes of this pass that somebody else's came before."""
    written: int = field(default=0, init=False)

    def begin(self) -> None:
        """A pass begins."""
        self.conflicts = 0

    async def start(self, entry: TransferEntry) -> None:
        """Prepared -> InProgress."""
        if transfer := await self._still(entry):
            await self._go_on(transfer, phase=TransferPhase.IN_PROGRESS, start_timestamp=self.clock.now())

    async def accept(self, entry: TransferEntry, node: str) -> None:
        """New -> Accepted. A restore takes its slot first, visibly; cut short behind that, it holds it and goes on."""
        transfer = await self._still(entry)
        if transfer is not None and entry.restore and not entry.has_slot:
            transfer = await self._update(transfer, restore_limit.in_progress(transfer))
        if transfer is not None:
            accepted = self.clock.now()
            await self._go_on(transfer, phase=TransferPhase.ACCEPTED, accepted_timestamp=accepted, node=node)

    async def hold(self, held: Held) -> None:
        """Write down why it waits."""
        if transfer := await self._still(held.entry):
            status = transfer.status.waiting(held.reason, held.message, since=self.clock.now())
            await self._update_status(transfer, status)

    async def give_label(self, entry: TransferEntry) -> None:
        """Since when it waits, for one that came without."""
        if transfer := await self._still(entry):
            await self._update(transfer, restore_limit.asked(transfer))

    async def take_label(self, entry: TransferEntry) -> None:
        """It is over."""
        if transfer := await self._still(entry):
            await self._update(transfer, restore_limit.over(transfer))

    async def _go_on(self, transfer: Transfer, **changes: object) -> None:
        status = transfer.status.no_longer_waiting().replace(**changes)
        if await self._update_status(transfer, status):
            log.info("transfer goes on", transfer=str(transfer.ref), phase=str(status.phase), node=status.node)

    async def _still(self, planned: TransferEntry) -> Transfer | None:
        """The transfer, if it is still as it was planned for; if not, the news of that are under way."""
        try:
            transfer = await self._get(planned.ref)
        except NotFound:
            return None
        return transfer if TransferEntry.of(transfer) == planned else None

    async def _get(self, ref: Ref) -> Transfer:
        kind = KIND_BY_NAME[ref.kind]
        assert issubclass(kind, Transfer)  # noqa: S101  # the table holds nothing else
        return await self.state.store.get(kind, ref.name)

    async def _update(self, before: Transfer, after: Transfer) -> Transfer | None:
        labels, annotations = after.metadata.labels, after.metadata.annotations
        write = self.state.store.update(before.with_metadata(labels=labels, annotations=annotations))
        return await self._written(before.ref, write)

    async def _update_status(self, transfer: Transfer, status: TransferStatus) -> Transfer | None:
        told = with_events(transfer, transfer.replace(status=status), now=self.clock.now())
        return await self._written(transfer.ref, self.state.store.update_status(told))

    async def _written(self, ref: Ref, write: Awaitable[Transfer]) -> Transfer | None:
        try:
            answer = await write
        except StaleVersion:
            self.conflicts += 1
            return None
        except NotFound:
            return None
        except UserError as error:
            # One that cannot be stored as it is must not hold up all others.
            log.warning("transfer cannot be written", transfer=str(ref), error=f"{type(error).__name__}: {error}")
            return None
        self.state.gate_news.wrote(answer)
        self.written += 1
        return answer
