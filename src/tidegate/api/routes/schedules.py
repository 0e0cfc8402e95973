"""What a schedule can be asked besides the usual: its coming times, a backup right now, and what its cron means."""

from datetime import UTC
from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import JSONResponse

from tidegate.api.admission.checks import ADMISSIONS
from tidegate.api.reads.presenting import Wire
from tidegate.api.reads.queue_preview import preview
from tidegate.api.security.auth import require_token, services_of
from tidegate.api.security.trail import caller_of, name_made, requested_by
from tidegate.decide.schedules.due import backup_for, next_times, unfinished
from tidegate.decide.system.schedules import as_run, system_backup_of, template_of
from tidegate.errors import InvalidInput, Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.frozen import Model
from tidegate.model.labels import Selector
from tidegate.model.schedules.cron import Cron, CronNumbers, numbers_of
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.system.system import SystemBackup
from tidegate.views.schedules.cron_words import cron_phrase

router = APIRouter(tags=["schedules"], dependencies=[Depends(require_token)])

Force = Annotated[bool, Query(description="Also while an earlier backup of the schedule is not finished.")]

MOST_AT_ONCE = 100


class CronMeaning(Model):
    """What one expression means."""

    schedule: str
    """As it was asked for."""
    words: str = ""
    """`every day at 02:30`; empty where nobody would say it in words."""
    numbers: CronNumbers | None = None
    """Absent where the expression counts from the end of a month, or names the n-th weekday of one."""
    error: str = ""
    """What is wrong with it."""


class CronMeanings(Model):
    """In the order in which they were asked for."""

    data: tuple[CronMeaning, ...]


@router.get("/cron")
async def explain_cron(schedule: Annotated[list[str], Query(max_length=MOST_AT_ONCE)]) -> CronMeanings:
    """Explain cron expressions: in words, and by the numbers that each field stands for."""
    return CronMeanings(data=tuple(map(_meaning, schedule)))


def _meaning(schedule: str) -> CronMeaning:
    try:
        return CronMeaning(schedule=schedule, words=cron_phrase(schedule), numbers=numbers_of(schedule))
    except ValueError as error:
        return CronMeaning(schedule=schedule, error=str(error))


@router.get("/schedules/{name}/next")
async def next_runs(request: Request, name: str, count: Annotated[int, Query(ge=1, le=100)] = 5) -> Wire:
    """The coming times, in the zone of the schedule and in UTC."""
    services = services_of(request)
    schedule = await services.store.get(Schedule, name)
    try:
        cron = Cron.read(schedule.spec.schedule, schedule.spec.timezone)
    except ValueError as error:  # time zone data may have changed since it was let in
        raise InvalidInput(str(error), field="spec") from None
    times = next_times(cron, services.clock.now(), count)
    return {
        "name": name,
        "schedule": schedule.spec.schedule,
        "timezone": schedule.spec.timezone,
        "paused": schedule.spec.paused,
        "times": [{"local": time.isoformat(), "utc": time.astimezone(UTC).isoformat()} for time in times],
    }


@router.post("/schedules/{name}/run", status_code=201, responses={201: {"model": Backup | SystemBackup}})
async def run_now(request: Request, name: str, force: Force = False) -> JSONResponse:
    """Make a backup of the schedule now, also if it is paused; its times stay as they are."""
    services = services_of(request)
    schedule = await services.store.get(Schedule, name)
    mine = Selector.matching({SCHEDULE_LABEL: name})
    systems = (as_run(one) for one in (await services.store.list(SystemBackup, selector=mine)).items)
    earlier = unfinished([*(await services.store.list(Backup, selector=mine)).items, *systems])
    if earlier is not None and not force:
        raise Refused(
            f"backup {earlier.name} of schedule {name} is still {earlier.status.phase}",
            hint="wait for it, or run all the same with --force",
        )
    run = backup_for(schedule, services.clock.now()).replace(spec=template_of(schedule))
    template = schedule.spec.system_backup
    wanted = run if template is None else system_backup_of(run, template)
    admitted = await ADMISSIONS[type(wanted)].check(services, wanted)
    created = await services.store.create(requested_by(admitted, caller_of(request).title))
    created = created.replace(status=admitted.status)  # as its controller is about to write it
    name_made(request, created)
    shown = await preview(services, created) if isinstance(created, Backup) else created
    return JSONResponse(shown.to_wire(), status_code=201)
