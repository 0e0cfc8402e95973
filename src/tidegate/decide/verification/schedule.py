"""When a schedule has its newest backup proven. As with backups, of several missed times only the latest counts."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from tidegate.model.resource import Metadata
from tidegate.model.schedules.cron import Cron
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
from tidegate.model.verification.verification import VERIFICATION_FINALIZER, Verification, VerificationSpec

# So many records stay; what they proved is told on the backups.
_MOST_KEPT = 10


@dataclass(frozen=True)
class VerificationVerdict:
    """What is due; look again at `wake_at`."""

    due: datetime | None = None
    passed_over: str | None = None
    """Why nothing is made for what is due."""
    wake_at: datetime | None = None


def judge_verification(
    schedule: Schedule, cron: Cron, verifications: Iterable[Verification], *, now: datetime
) -> VerificationVerdict:
    """What is due at `now`, given all verifications that carry the schedule's label."""
    moments = [schedule.metadata.creation_timestamp, schedule.status.last_verification]
    settled = max((moment for moment in moments if moment is not None), default=now)
    due = cron.last_between(settled, now)
    wake_at = cron.first_after(now)
    if due is None:
        return VerificationVerdict(wake_at=wake_at)
    due = due.astimezone(UTC)
    passed_over = None
    if schedule.spec.paused:
        passed_over = "the schedule is paused"
    else:
        name = verification_name(schedule, due)
        earlier = next((one for one in verifications if not one.status.phase.final and one.name != name), None)
        if earlier is not None:
            passed_over = f"verification {earlier.name} is still {earlier.status.phase}"
    return VerificationVerdict(due, passed_over, wake_at)


def verification_name(schedule: Schedule, at: datetime) -> str:
    """Always the same for the same time, so that creating it twice is harmless."""
    return f"{schedule.name}-verify-{at.astimezone(UTC):%Y%m%d%H%M%S}"


def verification_for(schedule: Schedule, at: datetime) -> Verification:
    """The verification that the schedule makes for this time; it goes with the schedule."""
    wanted = schedule.spec.verification
    return Verification(
        metadata=Metadata(
            name=verification_name(schedule, at),
            labels={SCHEDULE_LABEL: schedule.name},
            finalizers=(VERIFICATION_FINALIZER,),
            owner_references=(schedule.as_owner(),),
        ),
        spec=VerificationSpec(schedule_name=schedule.name, check=wanted.check if wanted else None),
    )


def outdated(verifications: Iterable[Verification]) -> Sequence[Verification]:
    """Those whose records may go: all that are over but the newest."""
    over = [one for one in verifications if one.status.phase.final and not one.deleting]
    over.sort(key=lambda one: (one.metadata.creation_timestamp or datetime.max.replace(tzinfo=UTC), one.name))
    return over[:-_MOST_KEPT]
