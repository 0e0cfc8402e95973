"""`get -w`: first the list, then every change."""

import json

from tidegate.model.backups.backup import BackupPhase
from tidegate.testing.resources.builders import a_backup, a_volume


def stop_watching(server):
    """The user's Ctrl-C, as a step on the server: there is no other end of a watch."""

    def step():
        server.problems.extend([(401, {"code": "Unauthenticated", "detail": "end of the test"})] * 5)
        server.break_streams()

    return step


def test_changes_follow_the_list_as_rows_under_the_same_header(run, server):
    server.put(a_backup("nightly", phase=BackupPhase.QUEUED))

    def go_on():
        server.put(a_backup("nightly", phase=BackupPhase.COMPLETED))
        server.remove("backups", "nightly")
        stop_watching(server)()

    server.when_listening(go_on)
    lines = run("backup", "get", "-w").out.splitlines()

    assert [line.split()[:2] for line in lines] == [
        ["NAME", "STATUS"],
        ["nightly", "Queued"],
        ["nightly", "Completed"],
        ["nightly", "Completed"],
    ]
    assert lines[-1].endswith("(deleted)")


def test_a_new_place_in_the_queue_is_a_row_though_the_backup_has_no_new_version(run, server):
    nightly = server.put(a_backup("nightly", phase=BackupPhase.QUEUED), queuePosition=4)

    def go_on():
        for place in (3, 3, 2):
            server.move(nightly, place)
        stop_watching(server)()

    server.when_listening(go_on)
    lines = run("backup", "get", "-w").out.splitlines()

    assert [line.split()[:3] for line in lines[1:]] == [["nightly", "Queued", place] for place in "432"]


def test_in_json_each_change_is_one_object_on_one_line_and_what_is_gone_says_so(run, server):
    server.put(a_backup("nightly"))

    def go_on():
        server.remove("backups", "nightly")
        stop_watching(server)()

    server.when_listening(go_on)
    objects = [json.loads(line) for line in run("backup", "get", "-w", "-o", "json").out.splitlines()]

    assert [(one["metadata"]["name"], one.get("deleted")) for one in objects] == [("nightly", None), ("nightly", True)]


def test_after_a_restart_only_what_changed_meanwhile_is_shown(run, server):
    server.put(a_backup("same"))
    server.put(a_backup("other"))

    def restart():
        server.break_streams()
        server.put(a_backup("other", phase=BackupPhase.FAILED))

    server.when_listening(restart, stop_watching(server))
    result = run("backup", "get", "-w", "-o", "name")

    assert result.out == "backup/other\nbackup/same\nbackup/other\n"
    assert "looking for it again" in result.err


def test_a_watcher_that_fell_behind_lists_again(run, server):
    server.put(a_backup("nightly"))
    server.when_listening(server.expire, stop_watching(server))

    result = run("backup", "get", "-w", "-o", "name")

    assert result.out == "backup/nightly\n"


def test_a_watch_keeps_to_its_namespace_selector_and_names(run, server):
    def go_on():
        server.put(a_volume("blog", "db", tier="data"))
        server.put(a_volume("shop", "db", tier="data"))
        server.put(a_volume("shop", "cache", tier="cache"))
        stop_watching(server)()

    server.when_listening(go_on)

    assert run("volume", "get", "-n", "shop", "-l", "tier=data", "-w", "-o", "name").out == "volume/shop/db\n"
