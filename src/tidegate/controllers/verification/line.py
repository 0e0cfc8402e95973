"""Lets verifications begin: New -> InProgress, one after the other, once there is room.

One key for all verifications, because the decision is about all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import structlog

from tidegate.controllers.reconcile.backup_choice import chosen_backup
from tidegate.controllers.reconcile.observation import all_of, all_transfers, settings_now
from tidegate.controllers.reconcile.reconciler import Next, Watch, always
from tidegate.decide.jobs.events import with_events
from tidegate.decide.verification.proof import (
    check_verifiable,
    room_needed,
    room_problem,
    waiting,
    whose_turn,
)
from tidegate.errors import UserError
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Ref
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.model.transfers.transfer import BACKUP_LABEL, Transfer, TransferPhase
from tidegate.model.verification.verification import Verification, VerificationPhase
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.scratch import ScratchRoom

log = structlog.get_logger(__name__)

KEY = Ref("VerificationLine", "verification-line")


async def uploads_of(store: ResourceStore, backup_uid: str) -> Sequence[Transfer]:
    """The volumes that the backup holds."""
    uploads = await all_transfers(store, Selector.matching({BACKUP_LABEL: backup_uid}))
    return [upload for upload in uploads if upload.status.phase is TransferPhase.COMPLETED]


@dataclass
class VerificationLine:
    """Owns the steps of a verification out of New."""

    store: ResourceStore
    clock: Clock
    scratch: ScratchRoom
    name: str = "verification-line"
    workers: int = 1  # one pass at a time: the plan is about all of them
    watches: tuple[Watch, ...] = (Watch(Verification, always(KEY)),)

    async def reconcile(self, _key: Ref) -> Next:
        """Let the first one begin if nobody is under way, and say why the others wait."""
        found = {one.name: one for one in await all_of(self.store, Verification)}
        for one in found.values():
            if one.spec.cancel and one.status.phase is VerificationPhase.NEW:
                await self._write(one, self._ended(one, VerificationPhase.CANCELED, "cancelled on request"))
                return Next.done()  # that write wakes us again
        turn = whose_turn(found.values())
        for name, message in turn.wait:
            await self.store.update_status(waiting(found[name], message, now=self.clock.now()))
        if turn.start is not None:
            await self._begin(found[turn.start])
        return Next.done()

    async def _begin(self, verification: Verification) -> None:
        try:
            schedule = verification.spec.schedule_name
            chosen = await chosen_backup(self.store, verification.source_backup, schedule=schedule)
            backup = check_verifiable(chosen)
        except UserError as error:
            refused = self._ended(verification, VerificationPhase.FAILED_VALIDATION, None)
            await self._write(verification, refused.with_status(validation_errors=(error.message,)))
            return
        wished = (await settings_now(self.store)).verification_scratch_directory
        place = self.scratch.place(wished, verification.metadata.uid)
        problem = await self._problem(place, backup)
        if problem is not None:
            await self._write(verification, self._ended(verification, VerificationPhase.FAILED, problem))
            return
        status = verification.status.no_longer_waiting().replace(
            phase=VerificationPhase.IN_PROGRESS,
            backup_name=backup.name,
            backup_uid=backup.metadata.uid,
            backup_schedule=backup.metadata.labels.get(SCHEDULE_LABEL),
            scratch=place,
            start_timestamp=self.clock.now(),
        )
        await self._write(verification, verification.replace(status=status))

    async def _problem(self, place: str, backup: Backup) -> str | None:
        uploads = await uploads_of(self.store, backup.metadata.uid)
        try:
            problem = room_problem(room_needed(uploads), await self.scratch.free_bytes(place))
            if problem is not None:
                await self.scratch.remove(place)
        except UserError as error:
            return error.message
        return problem

    def _ended(self, verification: Verification, phase: VerificationPhase, why: str | None) -> Verification:
        status = verification.status.no_longer_waiting()
        ended = status.replace(phase=phase, failure_reason=why, completion_timestamp=self.clock.now())
        return verification.replace(status=ended)

    async def _write(self, before: Verification, after: Verification) -> None:
        await self.store.update_status(with_events(before, after, now=self.clock.now()))
        log.info("verification", verification=after.name, phase=str(after.status.phase))
