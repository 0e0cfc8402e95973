"""What a schedule does at a given moment."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.decide.schedules.due import backup_for, backup_name, judge, next_times, times_of, unfinished
from tidegate.model.backups.backup import Backup, BackupPhase, BackupSpec
from tidegate.model.schedules.cron import Cron
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, SchedulePhase, SkipReason
from tidegate.testing.resources.builders import THEN, a_backup, a_schedule

ENABLED = SchedulePhase.ENABLED
UNFINISHED = [phase for phase in BackupPhase if not phase.final and phase is not BackupPhase.DELETING]


def at(hour, minute=0, day=2):
    return datetime(2026, 1, day, hour, minute, tzinfo=UTC)


def verdict(schedule, now, *backups, refusal=None):
    cron = Cron.read(schedule.spec.schedule, schedule.spec.timezone)
    return judge(schedule, cron, backups, now=now, refusal=refusal)


def nightly(**changes):
    spec = {key: value for key, value in changes.items() if key not in {"last_backup", "last_skipped", "phase"}}
    status = {key: value for key, value in changes.items() if key not in spec}
    return a_schedule("nightly", "30 2 * * *", **spec).with_status(**{"phase": ENABLED, **status})


DUE = [
    ("before its first time nothing is due", nightly(), at(2, 29), None),
    ("at its time it is due, to the second", nightly(), at(2, 30), at(2, 30)),
    ("later it is due all the same", nightly(), at(9), at(2, 30)),
    ("what ran does not run again", nightly(last_backup=at(2, 30)), at(9), None),
    ("what was skipped is over", nightly(last_skipped=at(2, 30)), at(9), None),
    ("of many missed times only the latest runs", nightly(last_backup=at(2, 30)), at(9, day=20), at(2, 30, day=20)),
    ("the zone counts", nightly(timezone="Europe/Berlin"), at(1, 30), at(1, 30)),
]


@pytest.mark.parametrize(("schedule", "now", "due"), [row[1:] for row in DUE], ids=[row[0] for row in DUE])
def test_what_is_due_at_a_moment(schedule, now, due):
    schedule = schedule.with_metadata(creation_timestamp=at(0))

    assert verdict(schedule, now).run == due


def test_it_wants_to_be_woken_exactly_at_its_next_time():
    assert verdict(nightly(), at(2, 29)).wake_at == at(2, 30)
    assert verdict(nightly(), at(2, 30)).wake_at == at(2, 30, day=3)


@pytest.mark.parametrize("phase", UNFINISHED)
def test_a_run_is_skipped_while_an_earlier_backup_is_in_any_phase_that_is_not_final(phase):
    found = verdict(nightly(), at(2, 30), a_backup("nightly-1", phase=phase))

    assert found.run is None
    assert (found.skip.at, found.skip.reason) == (at(2, 30), SkipReason.EARLIER_BACKUP_NOT_FINAL)
    assert found.skip.message == f"backup nightly-1 of this schedule is still {phase}"


@pytest.mark.parametrize("phase", [phase for phase in BackupPhase if phase.final])
def test_a_backup_that_ended_somehow_does_not_stop_the_next(phase):
    assert verdict(nightly(), at(2, 30), a_backup("nightly-1", phase=phase)).run == at(2, 30)


def test_a_backup_that_is_being_deleted_does_not_stop_the_next():
    leaving = a_backup("nightly-1", phase=BackupPhase.DELETING).with_metadata(deletion_timestamp=THEN)

    assert unfinished([leaving]) is None


def test_the_backup_of_this_very_run_does_not_stop_it():
    made = a_backup("nightly-20260102023000", phase=BackupPhase.QUEUED)

    assert verdict(nightly(), at(2, 30), made).run == at(2, 30)


def test_a_paused_schedule_skips_its_times_one_by_one_so_that_resuming_catches_nothing_up():
    skip = verdict(nightly(paused=True), at(2, 30)).skip

    assert (skip.at, skip.reason) == (at(2, 30), SkipReason.PAUSED)
    assert verdict(nightly(last_skipped=skip.at), at(9)).run is None


def test_with_skip_immediately_a_new_schedule_waits_for_its_next_time():
    new = nightly(skip_immediately=True, phase=SchedulePhase.NEW)

    assert verdict(new, at(9)).skip.reason is SkipReason.SKIP_IMMEDIATELY
    assert verdict(new, at(9)).run is None
    assert verdict(new.with_status(phase=ENABLED, last_skipped=at(9)), at(2, 30, day=3)).run == at(2, 30, day=3)


def test_a_template_of_which_no_backup_can_be_made_is_a_reason_to_skip():
    skip = verdict(nightly(), at(2, 30), refusal="there is no backup target").skip

    assert (skip.reason, skip.message) == (SkipReason.TEMPLATE_REFUSED, "there is no backup target")


def test_a_backup_of_a_schedule_has_its_template_its_labels_and_a_name_in_utc():
    schedule = nightly(template=BackupSpec(included_namespaces=("shop",)), timezone="Europe/Berlin").with_metadata(
        labels={"team": "web"}
    )
    berlin = next_times(Cron.read("30 2 * * *", "Europe/Berlin"), at(0), 1)[0]

    backup = backup_for(schedule, berlin)

    assert backup.name == "nightly-20260102013000"
    assert backup.spec.included_namespaces == ("shop",)
    assert backup.metadata.labels == {"team": "web", SCHEDULE_LABEL: "nightly"}
    assert backup.metadata.owner_references == ()


def test_a_backup_has_its_schedule_as_owner_only_if_that_is_wanted():
    schedule = nightly(use_owner_references_in_backup=True)

    assert backup_for(schedule, at(2)).metadata.owner_references == (schedule.as_owner(),)


@given(st.lists(st.timedeltas(timedelta(seconds=1), timedelta(days=3)), max_size=30), st.booleans())
@settings(deadline=None)
def test_whenever_one_looks_no_time_runs_twice_and_time_only_goes_forward(pauses, blocked):
    schedule, now, runs = nightly(), at(0), []
    running = [a_backup("nightly-1", phase=BackupPhase.QUEUED)] if blocked else []
    for pause in pauses:
        now += pause
        found = verdict(schedule, now, *running)
        if found.run:
            runs.append(backup_name(schedule, found.run))
            schedule = schedule.with_status(last_backup=found.run)
        elif found.skip:
            schedule = schedule.with_status(last_skipped=found.skip.at)
        assert verdict(schedule, now, *running).run is None  # a pass after a pass does nothing

    assert runs == sorted(set(runs))
    assert isinstance(backup_for(schedule, now), Backup)


def test_new_times_count_from_when_they_are_given():
    changed = nightly(last_backup=at(2, 30)).with_status(times_as_of="0 23 * * * UTC")

    assert verdict(changed, at(9, day=3)).run is None
    assert verdict(changed.with_status(times_as_of=times_of(changed)), at(9, day=3)).run == at(2, 30, day=3)


def test_times_that_went_by_without_a_server_are_counted_but_for_the_latest():
    assert verdict(nightly(last_backup=at(2, 30)), at(2, 30, day=3)).missed == 0
    assert verdict(nightly(last_backup=at(2, 30)), at(9, day=20)).missed == 17
    every_minute = a_schedule("often", "* * * * *").with_status(phase=ENABLED, last_backup=at(2))
    assert verdict(every_minute, at(2, day=20)).missed == 1000
