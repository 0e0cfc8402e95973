"""Makes the verifications of schedules when they are due, and lets go of old records."""

from collections.abc import Iterable
from dataclasses import dataclass

import structlog

from tidegate.controllers.reconcile.observation import all_of
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.decide.verification.schedule import judge_verification, outdated, verification_for
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.labels import Selector
from tidegate.model.resource import Ref, Resource
from tidegate.model.schedules.cron import Cron
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.verification.verification import Verification
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)


def _schedule_of(resource: Resource) -> Iterable[Ref]:
    """The end of a verification concerns its schedule; the steps before it do not."""
    assert isinstance(resource, Verification)  # noqa: S101  # only used on the watch of verifications
    name = resource.metadata.labels.get(SCHEDULE_LABEL)
    return (Ref("Schedule", name),) if name and resource.status.phase.final else ()


@dataclass
class VerificationSchedule:
    """Owns `status.lastVerification` of schedules, and nothing else of them."""

    store: ResourceStore
    clock: Clock
    name: str = "verification-schedule"
    workers: int = 2
    watches: tuple[Watch, ...] = (Watch(Schedule), Watch(Verification, _schedule_of))

    async def reconcile(self, key: Ref) -> Next:
        """Make or pass over what is due; wakes exactly at the next time."""
        try:
            schedule = await self.store.get(Schedule, key.name)
        except NotFound:
            return Next.done()
        if schedule.deleting or schedule.spec.verification is None:
            return Next.done()
        try:
            cron = Cron.read(schedule.spec.verification.schedule, schedule.spec.timezone)
        except ValueError:  # time zone data may have changed since it was let in; its own controller tells it
            return Next.done()
        made = await all_of(self.store, Verification, Selector.matching({SCHEDULE_LABEL: schedule.name}))
        for one in outdated(made):
            await self._delete(one)
        verdict = judge_verification(schedule, cron, made, now=self.clock.now())
        if verdict.due is not None:
            if verdict.passed_over is None:
                await self._make(verification_for(schedule, verdict.due))
            else:
                log.warning("scheduled verification passed over", schedule=schedule.name, why=verdict.passed_over)
            # Last: after a crash in between the same name is met again.
            await self.store.update_status(schedule.with_status(last_verification=verdict.due))
        return Next.done() if verdict.wake_at is None else Next.after(verdict.wake_at - self.clock.now())

    async def _make(self, verification: Verification) -> None:
        try:
            await self.store.create(verification)
        except AlreadyExists:
            return  # we were here before
        log.info("scheduled verification created", verification=verification.name)

    async def _delete(self, verification: Verification) -> None:
        try:
            await self.store.delete(verification.ref, uid=verification.metadata.uid)
        except NotFound:
            return  # somebody else was quicker
