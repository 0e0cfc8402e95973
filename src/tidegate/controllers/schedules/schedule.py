"""Makes the backups of schedules when they are due, says when it does not, and lets go of old ones by their rules."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from logging import INFO, WARNING

import structlog

from tidegate.controllers.movers.takeover import Takeover
from tidegate.controllers.reconcile.observation import all_of
from tidegate.controllers.reconcile.reconciler import Next, Watch
from tidegate.decide.backups.interruption import awaits_takeover
from tidegate.decide.resources.admission import admit_backup, template_refusal
from tidegate.decide.schedules.due import Skip, backup_for, judge, times_of
from tidegate.decide.schedules.retention import plan_retention
from tidegate.decide.system.schedules import as_run, system_backup_of, template_of
from tidegate.errors import AlreadyExists, NotFound
from tidegate.model.backups.backup import Backup
from tidegate.model.labels import Selector
from tidegate.model.resource import Condition, Ref, Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.schedules.cron import Cron
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, SKIPPED_CONDITION, Schedule, SchedulePhase, SkipReason
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.verification.verification import Verification
from tidegate.ports.clock import Clock
from tidegate.ports.resource_store import ResourceStore

log = structlog.get_logger(__name__)

_AS_WISHED = frozenset({SkipReason.PAUSED, SkipReason.SKIP_IMMEDIATELY})
_UNTIL_DECIDED = Next.after(timedelta(seconds=1))
_WHILE_A_RESTORE_READS = timedelta(minutes=1)


def _schedule_of(resource: Resource) -> Iterable[Ref]:
    """The end of a backup concerns its schedule, for retention; the steps before it do not."""
    assert isinstance(resource, Backup | SystemBackup)  # noqa: S101  # only used on the watches of these
    name = resource.metadata.labels.get(SCHEDULE_LABEL)
    return (Ref("Schedule", name),) if name and resource.status.phase.final else ()


@dataclass
class ScheduleController:
    """Owns the status of schedules, and makes their backups."""

    store: ResourceStore
    clock: Clock
    takeover: Takeover
    name: str = "schedule"
    workers: int = 4
    watches: tuple[Watch, ...] = (Watch(Schedule), Watch(Backup, _schedule_of), Watch(SystemBackup, _schedule_of))

    async def reconcile(self, key: Ref) -> Next:
        """Run or skip what is due, then retention; wakes exactly at the next time."""
        try:
            schedule = await self.store.get(Schedule, key.name)
        except NotFound:
            return Next.done()
        if schedule.deleting:
            return Next.done()
        try:
            cron = Cron.read(schedule.spec.schedule, schedule.spec.timezone)
        except ValueError as error:  # time zone data may have changed since it was let in
            await self.store.update_status(_validated(schedule, str(error)))
            return Next.done()
        decided = self.takeover.decided()
        backups = await self._runs(schedule)
        if schedule.spec.system_backup is None and any(awaits_takeover(backup, decided) for backup in backups):
            return _UNTIL_DECIDED  # what is due is skipped for a backup that goes on, not for one that has ended
        wake_at = await self._take_turn(schedule, cron, backups)
        read_again = await self._let_go(schedule, cron, backups)
        waits = [wake_at - self.clock.now()] if wake_at is not None else []
        return Next(min([*waits, *([_WHILE_A_RESTORE_READS] if read_again else [])], default=None))

    async def _runs(self, schedule: Schedule) -> list[Backup]:
        """What it made so far; system backups as its rules see them."""
        mine = Selector.matching({SCHEDULE_LABEL: schedule.name})
        if schedule.spec.system_backup is None:
            return await all_of(self.store, Backup, mine)
        return [as_run(system) for system in await all_of(self.store, SystemBackup, mine)]

    async def _take_turn(self, schedule: Schedule, cron: Cron, backups: list[Backup]) -> datetime | None:
        """The backup first, then the status: after a crash in between the same name is met again."""
        targets = await all_of(self.store, BackupTarget)
        refusal = template_refusal(template_of(schedule), targets)
        verdict = judge(schedule, cron, backups, now=self.clock.now(), refusal=refusal)
        missed = schedule.status.missed_runs + verdict.missed
        missed_at = self.clock.now() if verdict.missed else schedule.status.last_missed_at
        judged = schedule.with_status(times_as_of=times_of(schedule), missed_runs=missed, last_missed_at=missed_at)
        after, skip = _validated(judged, refusal), verdict.skip
        if verdict.run is not None:
            run = backup_for(schedule, verdict.run).replace(spec=template_of(schedule))
            skip = await self._run(schedule, admit_backup(run, targets), verdict.run)
            if skip is None:
                after = _ran(after, verdict.run)
        if skip is not None:
            after = _skipped(after, skip, now=self.clock.now())
            log.log(
                INFO if skip.reason in _AS_WISHED else WARNING,
                "scheduled run skipped",
                schedule=schedule.name,
                time=skip.at.isoformat(),
                reason=str(skip.reason),
                message=skip.message,
            )
        await self.store.update_status(after)  # writes nothing if nothing differs
        return verdict.wake_at

    async def _run(self, schedule: Schedule, backup: Backup, at: datetime) -> Skip | None:
        template = schedule.spec.system_backup
        wanted = backup if template is None else system_backup_of(backup, template)
        try:
            await self.store.create(wanted)
        except AlreadyExists:
            existing = await self.store.get(type(wanted), wanted.name)
            if existing.metadata.labels.get(SCHEDULE_LABEL) != schedule.name:
                message = f"there is a {_word(schedule)} {wanted.name} that is not of this schedule"
                return Skip(at, SkipReason.NAME_TAKEN, message)
            return None  # we were here before
        log.info("scheduled backup created", schedule=schedule.name, backup=wanted.name, time=at.isoformat())
        return None

    async def _let_go(self, schedule: Schedule, cron: Cron, backups: list[Backup]) -> bool:
        """Delete what no rule keeps, the usual way; whether some of it has to stay until a restore has read it."""
        if schedule.spec.retention is None:
            return False
        plan = plan_retention(backups, schedule.spec.retention, cron.zone, now=self.clock.now())
        if not plan.delete:
            return False
        readers: list[Restore | Verification] = [
            *await all_of(self.store, Restore),
            *await all_of(self.store, Verification),
        ]
        being_read = {reader.source_backup for reader in readers if not reader.status.phase.final}
        uids = {backup.name: backup.metadata.uid for backup in backups}
        for name in plan.delete:
            if name not in being_read:
                log.info("no rule keeps the backup any more", schedule=schedule.name, backup=name)
                kind = "Backup" if schedule.spec.system_backup is None else "SystemBackup"
                await self._delete(Ref(kind, name), uids[name])
        return not being_read.isdisjoint(plan.delete)

    async def _delete(self, ref: Ref, uid: str) -> None:
        try:
            await self.store.delete(ref, uid=uid)
        except NotFound:
            return  # somebody else was quicker


def _word(schedule: Schedule) -> str:
    return "backup" if schedule.spec.system_backup is None else "system backup"


def _validated(schedule: Schedule, problem: str | None) -> Schedule:
    phase = SchedulePhase.ENABLED if problem is None else SchedulePhase.FAILED_VALIDATION
    return schedule.with_status(phase=phase, validation_errors=() if problem is None else (problem,))


def _ran(schedule: Schedule, at: datetime) -> Schedule:
    status = schedule.status.without_condition(SKIPPED_CONDITION).replace(last_backup=at)
    return schedule.replace(status=status)


def _skipped(schedule: Schedule, skip: Skip, *, now: datetime) -> Schedule:
    condition = Condition(
        type=SKIPPED_CONDITION,
        status="True",
        reason=skip.reason,
        message=f"the run of {skip.at.isoformat(timespec='seconds')} was skipped: {skip.message}",
        last_transition_time=now,
    )
    status = schedule.status.with_condition(condition)
    return schedule.replace(status=status.replace(last_skipped=skip.at, skipped_runs=status.skipped_runs + 1))
