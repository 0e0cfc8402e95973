"""Which backups may go, and why the others stay."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tidegate.decide.schedules.retention import plan_retention
from tidegate.model.backups.backup import PINNED_LABEL, BackupPhase
from tidegate.model.resource import Condition
from tidegate.model.schedules.retention import Retention
from tidegate.model.transfers.transfer import ALL_REMOVED, DATA_REMOVED, SOME_REMOVED
from tidegate.testing.resources.builders import a_backup, emptied

NOW = datetime(2026, 7, 1, 12, tzinfo=UTC)
DONE, HALF, FAILED = BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED, BackupPhase.FAILED


def made(moment, phase=DONE, *, pinned=False):
    """A backup named after the time at which it was asked for."""
    labels = {PINNED_LABEL: "true"} if pinned else {}
    backup = a_backup(f"b-{moment:%m%d-%H%M}", phase=phase)
    return backup.with_metadata(creation_timestamp=moment.astimezone(UTC), labels=labels)


def day(number, hour=2, month=6, **more):
    return made(datetime(2026, month, number, hour, tzinfo=UTC), **more)


def kept(backups, zone=UTC, now=NOW, **rules):
    plan = plan_retention(backups, Retention(**rules), zone, now=now)
    assert {one.name for one in plan.keep}.isdisjoint(plan.delete)
    assert len(plan.keep) + len(plan.delete) == len(backups)
    return {one.name: one.reasons for one in plan.keep}


JUNE = [day(number) for number in range(1, 31)]

RULES = [
    ("no rule keeps all", {}, 30),
    ("zeros are no rule", {"keep_last": 0, "keep_daily": 0}, 30),
    ("the last ones", {"keep_last": 3}, 3),
    ("more than there are", {"keep_last": 99}, 30),
    ("one a day", {"keep_daily": 7}, 7),
    ("one a week, Monday to Sunday", {"keep_weekly": 4}, 4),
    ("one a month", {"keep_monthly": 12}, 1),
    ("one a year", {"keep_yearly": 5}, 1),
    ("any rule is enough", {"keep_daily": 7, "keep_weekly": 4}, 9),
]


@pytest.mark.parametrize(("rules", "count"), [row[1:] for row in RULES], ids=[row[0] for row in RULES])
def test_a_month_of_daily_backups_under_each_rule(rules, count):
    assert len(kept(JUNE, **rules)) == count


def test_each_kept_backup_says_why():
    found = kept([day(1, 2), day(1, 14), day(2, 2)], keep_last=1, keep_daily=2)

    assert found == {"b-0602-0200": ("newest", "last 1", "daily 1"), "b-0601-1400": ("daily 2",)}


def test_of_each_period_the_newest_is_kept_and_periods_without_one_do_not_count():
    found = kept([day(1), day(2), day(20, 2), day(20, 14)], keep_daily=3)

    assert list(found) == ["b-0620-1400", "b-0602-0200", "b-0601-0200"]


def test_days_are_those_of_the_schedules_zone():
    late = [made(datetime(2026, 6, 1, 23, tzinfo=UTC)), made(datetime(2026, 6, 2, 1, tzinfo=UTC))]

    assert len(kept(late, keep_daily=5)) == 2
    assert len(kept(late, zone=ZoneInfo("Europe/Berlin"), keep_daily=5)) == 1


def test_the_week_of_new_year_is_one_week():
    around = [made(datetime(2025, 12, 30, tzinfo=UTC)), made(datetime(2026, 1, 2, tzinfo=UTC))]

    assert list(kept(around, keep_weekly=5)) == ["b-0102-0000"]


def test_the_hour_that_the_clocks_repeat_is_two_hours():
    berlin = ZoneInfo("Europe/Berlin")
    twice = [made(datetime(2027, 10, 31, hour, 15, tzinfo=UTC)) for hour in (0, 1)]

    assert len(kept(twice, zone=berlin, now=NOW + timedelta(days=600), keep_hourly=5)) == 2


def test_what_did_not_end_well_uses_up_no_place_and_stays_for_thirty_days():
    found = kept([day(30, phase=FAILED), day(29), day(1, month=5, phase=FAILED)], keep_last=1)

    assert found == {"b-0630-0200": ("shows what failed",), "b-0629-0200": ("newest", "last 1")}


@pytest.mark.parametrize("phase", [DONE, HALF])
def test_backups_that_hold_nothing_push_out_none_that_holds_something(phase):
    found = kept([emptied(day(30, phase=phase)), emptied(day(29, phase=phase)), day(1), day(2)], keep_last=1)

    assert found["b-0602-0200"] == ("newest", "last 1")
    assert found["b-0630-0200"] == ("shows that nothing matched",)


def test_the_newest_whole_backup_stays_even_if_newer_ones_are_half():
    found = kept([day(30, phase=HALF), day(29, phase=HALF), day(1)], keep_last=1)

    assert found["b-0601-0200"] == ("newest without failures",)
    assert "b-0629-0200" not in found


def test_a_pinned_backup_and_one_that_is_not_finished_stay():
    found = kept([day(30), day(2, pinned=True), day(1, phase=BackupPhase.QUEUED)], keep_last=1)

    assert (found["b-0602-0200"], found["b-0601-0200"]) == (("pinned",), ("not finished",))


MOMENTS = st.timedeltas(timedelta(), timedelta(days=900)).map(lambda age: NOW - age)
BACKUPS = st.lists(
    st.builds(
        made, MOMENTS, st.sampled_from([DONE, DONE, HALF, FAILED, BackupPhase.IN_PROGRESS]), pinned=st.booleans()
    ),
    max_size=25,
    unique_by=lambda backup: backup.name,
)
COUNTS = st.none() | st.integers(0, 6)
RETENTIONS = st.builds(Retention, **dict.fromkeys(Retention.model_fields, COUNTS))
ZONES = st.sampled_from([UTC, ZoneInfo("Europe/Berlin"), ZoneInfo("Pacific/Auckland")])


@given(BACKUPS, RETENTIONS, ZONES)
@settings(deadline=None)
def test_the_newest_good_one_and_pinned_ones_are_never_deleted(backups, retention, zone):
    plan = plan_retention(backups, retention, zone, now=NOW)

    good = [backup for backup in backups if backup.status.phase in {DONE, HALF}]
    newest = max(good, key=lambda backup: backup.metadata.creation_timestamp, default=None)
    protected = {backup.name for backup in backups if backup.pinned or not backup.status.phase.final}
    assert newest is None or newest.name not in plan.delete
    assert protected.isdisjoint(plan.delete)
    assert sorted([*plan.delete, *(one.name for one in plan.keep)]) == sorted(backup.name for backup in backups)


@given(BACKUPS, RETENTIONS, ZONES, st.sampled_from(list(Retention.model_fields)), st.integers(1, 9))
@settings(deadline=None)
def test_more_rules_keep_more(backups, retention, zone, field, more):
    if not retention.keeps_something:
        return  # no rule at all is another wish: keep everything
    stricter = plan_retention(backups, retention, zone, now=NOW)
    looser = plan_retention(
        backups, retention.replace(**{field: (getattr(retention, field) or 0) + more}), zone, now=NOW
    )

    assert set(looser.delete) <= set(stricter.delete)


@given(BACKUPS, RETENTIONS, ZONES)
@settings(deadline=None)
def test_what_is_left_after_a_pass_is_left_alone_by_the_next(backups, retention, zone):
    plan = plan_retention(backups, retention, zone, now=NOW)
    left = [backup for backup in backups if backup.name not in plan.delete]

    assert plan_retention(left, retention, zone, now=NOW).delete == ()


def without_data(backup, reason):
    condition = Condition(type=DATA_REMOVED, status="True", reason=reason)
    return backup.replace(status=backup.status.with_condition(condition))


def test_a_backup_whose_data_was_deleted_keeps_no_other_from_being_the_newest():
    empty, half = without_data(day(30), ALL_REMOVED), without_data(day(29), SOME_REMOVED)
    found = kept([day(1), day(28), half, empty], keep_last=1)

    assert found == {"b-0629-0200": ("newest", "last 1"), "b-0628-0200": ("newest without failures",)}
