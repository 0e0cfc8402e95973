"""Carries one verification to its end: restores, reads back, checks, cleans up, and tells the backup of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

import structlog

from tidegate.controllers.backups.check_runs import CheckRuns
from tidegate.controllers.reconcile.cancelling import cancel_all
from tidegate.controllers.reconcile.finalizers import let_go
from tidegate.controllers.reconcile.observation import all_transfers, settings_now
from tidegate.controllers.reconcile.reconciler import Next, Watch, owners
from tidegate.controllers.verification.downloads import proving_download
from tidegate.controllers.verification.line import uploads_of
from tidegate.decide.backups.cancelling import did_not_stop, time_left_to_stop
from tidegate.decide.jobs.events import with_events
from tidegate.decide.verification.proof import (
    after_look,
    clean_up_is_over,
    cleaned_up,
    ends_as,
    is_recorded,
    recorded,
)
from tidegate.errors import AlreadyExists, DestinationUnusable, NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Ref
from tidegate.model.transfers.transfer import DOWNLOADS, VERIFICATION_LABEL, Transfer
from tidegate.model.verification.verification import (
    VERIFICATION_FINALIZER,
    Verification,
    VerificationPhase,
    VerificationProgress,
)
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.scratch import ScratchRoom

log = structlog.get_logger(__name__)

_TRY_AGAIN = Next.after(timedelta(seconds=30))


@dataclass
class VerificationController:
    """Owns every step of a verification but the first: the line lets it begin."""

    store: ResourceStore
    clock: Clock
    scratch: ScratchRoom
    checks: CheckRuns
    name: str = "verification"
    workers: int = 2
    watches: tuple[Watch, ...] = (Watch(Verification), *(Watch(kind, owners("Verification")) for kind in DOWNLOADS))

    async def reconcile(self, key: Ref) -> Next:
        """One step of one verification."""
        try:
            verification = await self.store.get(Verification, key.name)
        except NotFound:
            return Next.done()
        if verification.deleting:
            return await self._take_apart(verification)
        match verification.status.phase:
            case VerificationPhase.IN_PROGRESS:
                return await self._go_on(verification)
            case VerificationPhase.CHECKING:
                await self._check(verification)
            case VerificationPhase.CLEANING_UP:
                return await self._clean_up(verification)
        return Next.done()

    async def _go_on(self, verification: Verification) -> Next:
        downloads = await self._downloads(verification)
        if verification.spec.cancel:
            return await self._cancel(verification, downloads)
        if verification.status.progress is None:
            await self._create_downloads(verification)
            return Next.done()
        await self._write(verification, after_look(verification, downloads, now=self.clock.now()))
        return Next.done()

    async def _create_downloads(self, verification: Verification) -> None:
        """One per volume. The progress is written last: as long as it is absent, creating goes on here."""
        uploads = await uploads_of(self.store, verification.status.backup_uid or "")
        for nth, upload in enumerate(uploads):
            try:
                await self.store.create(proving_download(verification, upload.as_source, nth))
            except AlreadyExists:
                continue  # we were here before
        after = verification.with_status(progress=VerificationProgress(total_items=len(uploads)))
        if not uploads:
            after = ends_as(after, VerificationPhase.FAILED, "the backup holds no volume", now=self.clock.now())
        await self._write(verification, after)

    async def _cancel(self, verification: Verification, downloads: Sequence[Transfer]) -> Next:
        """Its downloads stop by themselves, soon; what even that does not end is not waited for."""
        await cancel_all(self.store, downloads)
        now = self.clock.now()
        if all(download.status.phase.final for download in downloads):
            ended = ends_as(verification, VerificationPhase.CANCELED, "cancelled on request", now=now)
            await self._write(verification, ended)
            return Next.done()
        if verification.status.cancel_requested_at is None:
            verification = await self.store.update_status(verification.with_status(cancel_requested_at=now))
        left = time_left_to_stop(verification.status.cancel_requested_at, now)
        if left:
            return Next.after(left)
        await self._write(
            verification, ends_as(verification, VerificationPhase.CANCELED, did_not_stop(downloads), now=now)
        )
        return Next.done()

    async def _check(self, verification: Verification) -> None:
        now = self.clock.now()
        if verification.spec.cancel:
            await self.checks.stop(verification)
            ended = ends_as(verification, VerificationPhase.CANCELED, "cancelled on request", now=now)
        else:
            result = self.checks.ensure(verification, _volumes(await self._downloads(verification)))
            if result is None:
                return  # its end wakes us
            outcome = VerificationPhase.COMPLETED if result.problem is None else VerificationPhase.FAILED
            why = None if result.problem is None else f"the check failed: {result.problem}"
            ended = ends_as(verification, outcome, why, now=now)
        await self._write(verification, ended)
        self.checks.forget(verification)

    async def _clean_up(self, verification: Verification) -> Next:
        """The backup hears of it first, then the scratch place goes, then it is over."""
        now = self.clock.now()
        await self._record(verification)
        left_over = None
        try:
            await self.scratch.remove(verification.status.scratch or await self._place(verification))
        except DestinationUnusable as error:
            log.warning("scratch place stays", verification=verification.name, why=error.message)
            if not clean_up_is_over(verification, now=now):
                return _TRY_AGAIN
            left_over = error.message
        await self._write(verification, cleaned_up(verification, left_over=left_over, now=now))
        return Next.done()

    async def _record(self, verification: Verification) -> None:
        """Told once: a second time, after a crash, it finds its own words."""
        try:
            backup = await self.store.get(Backup, verification.status.backup_name or "")
        except NotFound:
            return
        known = backup.status.verification
        same = backup.metadata.uid == verification.status.backup_uid
        if same and not is_recorded(known, verification):
            record = recorded(known, verification, now=self.clock.now())
            await self.store.update_status(backup.with_status(verification=record))

    async def _take_apart(self, verification: Verification) -> Next:
        await self.checks.stop(verification)
        downloads = await self._downloads(verification)
        for download in downloads:
            if not download.deleting:
                await self.store.delete(download.ref, uid=download.metadata.uid)
        if downloads:
            return Next.done()
        try:
            await self.scratch.remove(verification.status.scratch or await self._place(verification))
        except DestinationUnusable as error:
            log.warning("scratch place stays", verification=verification.name, why=error.message)
            return _TRY_AGAIN
        await let_go(self.store, verification, VERIFICATION_FINALIZER)
        return Next.done()

    async def _place(self, verification: Verification) -> str:
        wished = (await settings_now(self.store)).verification_scratch_directory
        return self.scratch.place(wished, verification.metadata.uid)

    async def _write(self, before: Verification, after: Verification) -> None:
        """Nothing is written if nothing differs."""
        await self.store.update_status(with_events(before, after, now=self.clock.now()))
        if after.status.phase.final:
            log.info("verification ended", verification=after.name, phase=str(after.status.phase))

    async def _downloads(self, verification: Verification) -> list[Transfer]:
        return await all_transfers(self.store, Selector.matching({VERIFICATION_LABEL: verification.metadata.uid}))


def _volumes(downloads: Iterable[Transfer]) -> tuple[str, ...]:
    return tuple(sorted(f"{d.spec.volume_namespace}/{d.spec.volume_name}" for d in downloads))
