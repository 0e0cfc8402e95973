"""`tidegate schedule`, and the pins of backups."""

import json
from datetime import timedelta

import pytest

from tidegate.model.schedules.retention import Retention
from tidegate.model.schedules.schedule import SCHEDULE_LABEL, ScheduledVerification
from tidegate.model.system.system import SystemBackupSpec, VolumeBackupPolicy
from tidegate.model.verification.verification import CheckCommand
from tidegate.testing.resources.builders import a_backup, a_schedule


def sent(server):
    """The body of the last request that had one."""
    return next(body for _, _, _, body in reversed(server.requests) if body)


def test_a_schedule_is_sent_with_what_was_given_and_nothing_else(run, server):
    result = run(
        *("schedule", "create", "nightly", "--schedule", "30 2 * * *", "--timezone", "Europe/Berlin"),
        *("--include-namespaces", "shop,blog", "--ttl", "90d", "--keep-daily", "7", "--keep-last", "0"),
        *("--skip-immediately", "-l", "team=web"),
    )

    assert (result.code, result.out) == (0, "schedule/nightly\n")
    assert result.err == (
        "Created schedule nightly. It runs every day at 02:30 Europe/Berlin, next on Fri 2026-01-02 02:30:00+01:00.\n"
    )
    assert sent(server) == {
        "apiVersion": "tidegate.dev/v1alpha1",
        "kind": "Schedule",
        "metadata": {"name": "nightly", "labels": {"team": "web"}},
        "spec": {
            "schedule": "30 2 * * *",
            "timezone": "Europe/Berlin",
            "template": {"includedNamespaces": ["shop", "blog"], "ttl": "90d"},
            "retention": {"keepDaily": 7, "keepLast": 0},
            "skipImmediately": True,
        },
    }


def test_a_schedule_without_a_time_is_wrong_usage(run, server):
    assert run("schedule", "create", "nightly").code == 2


def test_a_schedule_that_the_server_refuses_is_told_with_its_sentence(run, server):
    problem = {"code": "InvalidInput", "detail": "'x' is not a cron expression", "field": "spec.schedule"}
    server.problems.append((422, problem))

    result = run("schedule", "create", "nightly", "--schedule", "x")

    assert result.code != 0
    assert "'x' is not a cron expression" in result.err


def test_schedules_are_listed_with_their_times_in_words(run, server):
    server.put(a_schedule("nightly", "30 2 * * *", "shop"), phase="Enabled", lastBackup="2026-01-01T02:30:00Z")
    server.put(a_schedule("weekly", "0 3 * * SUN", paused=True), phase="Enabled")

    lines = run("schedule", "get").out.splitlines()

    assert "every day at 02:30 UTC" in lines[1]
    assert "14h30m" in lines[1]
    assert "Paused" in lines[2]
    assert "every Sunday at 03:00 UTC" in lines[2]


def test_a_description_tells_what_was_skipped_and_why_each_backup_is_kept(run, server):
    skipped = {"type": "Skipped", "status": "True", "reason": "EarlierBackupNotFinal", "message": "n-1 is Queued"}
    schedule = a_schedule("nightly", "30 2 * * *", "shop", retention=Retention(keep_last=1))
    server.put(schedule, phase="Enabled", lastSkipped="2026-01-01T02:30:00Z", conditions=[skipped])
    server.put(a_backup("n-1").with_metadata(labels={SCHEDULE_LABEL: "nightly"}), phase="Completed")
    server.put(a_backup("other"), phase="Completed")

    out = run("schedule", "describe", "nightly").out

    assert "n-1 is Queued" in out
    assert "Completed, kept: newest, last 1" in out
    assert "other" not in out


def test_a_schedule_whose_zone_is_unknown_here_is_still_described(run, server):
    server.put(a_schedule("lost", "30 2 * * *", timezone="Mars/Olympus"), phase="FailedValidation")

    assert "FailedValidation" in run("schedule", "describe", "lost").out


def test_pausing_and_resuming_change_only_that(run, server):
    server.put(a_schedule("nightly", "30 2 * * *", "shop"))

    assert run("schedule", "pause", "nightly").err == "Paused schedule nightly.\n"
    assert sent(server)["spec"]["paused"] is True
    assert sent(server)["spec"]["template"]["includedNamespaces"] == ["shop"]
    assert run("schedule", "resume", "nightly").code == 0
    assert sent(server)["spec"]["paused"] is False


def test_the_next_times_are_shown_in_the_zone_and_in_utc(run, server):
    times = [{"local": "2026-01-02T02:30:00+01:00", "utc": "2026-01-02T01:30:00+00:00"}]
    answer = {"name": "nightly", "timezone": "Europe/Berlin", "paused": True, "times": times}
    server.problems.extend([(200, answer), (200, answer)])

    result = run("schedule", "next", "nightly")

    assert result.out.splitlines() == [
        "EUROPE/BERLIN                  UTC",
        "Fri 2026-01-02 02:30:00+01:00  2026-01-02 01:30:00",
    ]
    assert "is paused" in result.err
    assert server.requests[-1][1:3] == ("/v1/schedules/nightly/next", {"count": "5"})
    assert json.loads(run("schedule", "next", "nightly", "-o", "json").out) == answer


def test_running_a_schedule_now_prints_the_name_of_the_backup(run, server):
    server.problems.append((201, a_backup("nightly-20260101120000").to_wire()))

    result = run("schedule", "run-now", "nightly", "--force")

    assert (result.code, result.out) == (0, "backup/nightly-20260101120000\n")
    assert server.requests[-1][:3] == ("POST", "/v1/schedules/nightly/run", {"force": "true"})


def test_running_a_schedule_that_still_runs_is_a_conflict(run, server):
    server.problems.append((409, {"code": "Refused", "detail": "nightly-1 is still Queued", "hint": "use --force"}))

    result = run("schedule", "run-now", "nightly")

    assert (result.code, result.err) == (6, "Error: nightly-1 is still Queued\nHint: use --force\n")


def test_deleting_a_schedule_is_confirmed_by_a_flag(run, server):
    server.put(a_schedule("nightly", "30 2 * * *"))

    assert run("schedule", "delete", "nightly", "--yes").code == 0
    assert server.resources == {}


def test_a_backup_is_pinned_and_unpinned(run, server):
    for verb in ("pin", "unpin"):
        server.problems.append((200, a_backup("keep").to_wire()))

        assert run("backup", verb, "keep").out == "backup/keep\n"
        assert server.requests[-1][:2] == ("POST", f"/v1/backups/keep/{verb}")


def test_an_update_changes_what_is_given_and_leaves_the_rest(run, server):
    before = a_schedule("nightly", "30 2 * * *", "shop", retention=Retention(keep_daily=7, keep_last=3))
    server.put(before.with_spec(template=before.spec.template.replace(excluded_namespaces=("tmp",), priority=5)))

    result = run(
        *("schedule", "update", "nightly", "--schedule", "0 4 * * *", "--exclude-namespaces", "", "--ttl", "90d"),
        *("--keep-daily", "14"),
    )

    assert (result.code, result.out) == (0, "schedule/nightly\n")
    assert "every day at 04:00" in result.err
    spec = sent(server)["spec"]
    assert (spec["schedule"], spec["timezone"]) == ("0 4 * * *", "UTC")
    assert spec["retention"] == {"keepDaily": 14, "keepLast": 3}
    template = spec["template"]
    assert (template["includedNamespaces"], template["ttl"], template["priority"]) == (["shop"], "90d", 5)
    assert "excludedNamespaces" not in template


def test_first_rules_take_back_the_ttl_that_would_end_what_they_keep(run, server):
    server.put(a_schedule("nightly", "30 2 * * *", "shop"))

    run("schedule", "update", "nightly", "--keep-monthly", "12")

    assert "ttl" not in sent(server)["spec"]["template"]


def test_an_update_of_nothing_is_wrong_usage_and_of_nobody_is_not_found(run, server):
    assert run("schedule", "update", "nightly").code == 2
    assert run("schedule", "update", "nightly", "--ttl", "1d").code == 5


def test_the_policy_and_the_target_of_system_backups_can_be_changed_each_by_itself(run, server):
    template = SystemBackupSpec(volume_backup_policy=VolumeBackupPolicy.ALWAYS, target="near")
    server.put(a_schedule("system", "@daily", system_backup=template, retention=Retention(keep_last=3)))

    run("schedule", "update", "system", "--volume-backup-policy", "if-changed")
    policy = sent(server)["spec"]
    run("schedule", "update", "system", "--storage-location", "far", "--keep-last", "5")
    target = sent(server)["spec"]
    wrong = run("schedule", "update", "system", "--include-namespaces", "shop")

    assert policy["systemBackup"] == {"volumeBackupPolicy": "if-changed", "target": "near"}
    assert (target["systemBackup"]["target"], target["retention"]["keepLast"]) == ("far", 5)
    assert (wrong.code, "A system backup is of everything" in wrong.err) == (2, True)


def test_a_schedule_of_backups_has_no_policy_to_change(run, server):
    server.put(a_schedule("nightly", "@daily", "shop"))
    before = len(server.requests)

    result = run("schedule", "update", "nightly", "--volume-backup-policy", "always")

    assert (result.code, "this schedule makes none" in result.err) == (2, True)
    assert [request[0] for request in server.requests[before:]] == ["GET"]


@pytest.mark.parametrize(
    ("given", "after"),
    [
        (("--verify-schedule", "@daily"), {"schedule": "@daily", "check": {"command": ["look"], "timeout": "5m"}}),
        (("--verify-check", "peek -x"), {"schedule": "@weekly", "check": {"command": ["peek", "-x"], "timeout": "5m"}}),
        (("--verify-check-timeout", "9m"), {"schedule": "@weekly", "check": {"command": ["look"], "timeout": "9m"}}),
        (("--verify-check", ""), {"schedule": "@weekly"}),
        (("--verify-schedule", ""), None),
        (("--ttl", "9d"), {"schedule": "@weekly", "check": {"command": ["look"], "timeout": "5m"}}),
    ],
)
def test_what_is_given_of_a_verification_changes_and_the_rest_of_it_stays(run, server, given, after):
    check = CheckCommand(command=("look",), timeout=timedelta(minutes=5))
    server.put(a_schedule("s", "@daily", verification=ScheduledVerification(schedule="@weekly", check=check)))

    result = run("schedule", "update", "s", *given)

    assert (result.code, sent(server)["spec"].get("verification")) == (0, after), result.err
