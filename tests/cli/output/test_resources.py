"""What `get` and `describe` print."""

import json
from datetime import timedelta

import pytest
import yaml

from tidegate.model.backups.backup import BackupPhase
from tidegate.model.transfers.transfer import BACKUP_LABEL, TransferPhase
from tidegate.testing.resources.builders import THEN, a_backup, a_target, a_transfer, a_volume


@pytest.fixture
def backups(server):
    server.put(a_backup("nightly", "shop", phase=BackupPhase.COMPLETED))
    server.put(a_backup("weekly", "blog", phase=BackupPhase.QUEUED), queuePosition=1)
    return server


def test_a_table_has_aligned_columns_and_no_boxes(run, backups):
    result = run("backup", "get")

    assert result.code == 0
    assert result.out.splitlines() == [
        "NAME     STATUS     QUEUE  WAITS FOR  DONE  SIZE  ITEMS  ERRORS  WARNINGS  STARTED  AGE  EXPIRES",
        "nightly  Completed                                            0         0           12h",
        "weekly   Queued         1                                     0         0           12h",
    ]
    assert result.err == ""


def test_jobs_are_listed_newest_first(run, server):
    for name, age in [("a-old", 2), ("b-newest", 0), ("c-older", 3)]:
        server.put(a_backup(name).with_metadata(creation_timestamp=THEN - timedelta(hours=age)))

    assert run("backup", "get", "-o", "name").out.split() == ["backup/b-newest", "backup/a-old", "backup/c-older"]


def test_a_name_that_is_missing_hides_no_other(run, backups):
    result = run("backup", "get", "nope", "nightly")

    assert result.code == 5
    assert [line.split()[0] for line in result.out.splitlines()] == ["NAME", "nightly"]
    assert result.err == "Error: there is no nope among the backups\n"


def test_wide_shows_more_columns(run, backups):
    header = run("backup", "get", "-o", "wide").out.splitlines()[0]

    assert "NAMESPACES" in header
    assert "MESSAGE" in header


def test_json_of_a_list_has_items_and_of_one_name_the_object_itself(run, backups):
    listed = run("backup", "get", "-o", "json").json
    single = run("backup", "get", "nightly", "-o", "json").json

    assert [item["metadata"]["name"] for item in listed["items"]] == ["nightly", "weekly"]
    assert listed["kind"] == "List"
    assert single == listed["items"][0]


def test_yaml_says_the_same_as_json(run, backups):
    assert yaml.safe_load(run("backup", "get", "-o", "yaml").out) == run("backup", "get", "-o", "json").json


def test_jsonl_has_one_object_per_line(run, backups):
    lines = run("backup", "get", "-o", "jsonl").out.splitlines()

    assert [json.loads(line)["metadata"]["name"] for line in lines] == ["nightly", "weekly"]


def test_names_can_be_given_back_to_the_shell(run, backups):
    backups.put(a_volume("shop", "db"))

    assert run("backup", "get", "-o", "name").out == "backup/nightly\nbackup/weekly\n"
    assert run("volume", "get", "-o", "name").out == "volume/shop/db\n"


def test_an_empty_list_leaves_stdout_empty_and_says_so_on_stderr(run, server):
    result = run("backup", "get")

    assert (result.code, result.out, result.err) == (0, "", "No backups found.\n")


def test_an_empty_list_is_an_empty_list_in_json(run, server):
    assert run("backup", "get", "-o", "json").json["items"] == []


def test_fields_that_only_a_newer_server_knows_pass_through_json_and_do_not_break_tables(run, server):
    wire = server.put(a_backup("nightly"))
    wire["spec"]["futureField"] = {"a": 1}
    wire["status"]["another"] = True

    assert run("backup", "get", "nightly", "-o", "json").json["spec"]["futureField"] == {"a": 1}
    assert run("backup", "get").code == 0


def test_a_value_that_this_version_does_not_understand_is_told_as_such(run, server):
    server.put(a_backup("nightly"), phase="Levitating")

    result = run("backup", "get")

    assert result.code == 10
    assert "status.phase" in result.err
    assert "tidegate version" in result.err


def test_lists_longer_than_a_page_are_fetched_whole(run, server):
    for number in range(1203):
        server.put({**a_backup("b").to_wire(), "metadata": {"name": f"b{number:04}"}})

    result = run("backup", "get", "-o", "name")

    assert len(result.out.splitlines()) == 1203
    assert sum(1 for request in server.requests if request[1] == "/v1/backups") == 3


def test_a_selector_is_passed_to_the_server_and_a_wrong_one_is_wrong_usage(run, server):
    server.put(a_volume("shop", "db", tier="data"))
    server.put(a_volume("shop", "cache", tier="cache"))

    assert run("volume", "get", "-l", "tier=data", "-o", "name").out == "volume/shop/db\n"
    assert run("volume", "get", "-l", "tier in ()").code == 2


def test_volumes_are_found_by_namespace_and_by_full_name(run, server):
    server.put(a_volume("shop", "db"))
    server.put(a_volume("blog", "db"))

    assert run("volume", "get", "-n", "shop", "-o", "name").out == "volume/shop/db\n"
    assert run("volume", "get", "-A", "-o", "name").out == "volume/blog/db\nvolume/shop/db\n"
    assert run("volume", "get", "blog/db", "-o", "name").out == "volume/blog/db\n"
    assert run("volume", "get", "db", "-n", "blog", "-o", "name").out == "volume/blog/db\n"


def test_a_volume_without_its_namespace_is_wrong_usage(run, server):
    result = run("volume", "get", "db")

    assert result.code == 2
    assert "NAMESPACE/db" in result.err


def test_what_came_from_elsewhere_cannot_steer_the_terminal(run, server):
    server.put(a_backup("nightly"), failureReason="\x1b[31mboo\x1b[0m\nsecond line")

    result = run("backup", "get", "-o", "wide")

    assert "\x1b" not in result.out
    assert "\\x1b[31mboo\\x1b[0m second line" in result.out


def test_exact_bytes_are_shown_when_asked_for(run, server):
    server.put(a_volume("shop", "db"), size=1536 * 1024)

    assert "1.5 MiB" in run("volume", "get").out
    assert str(1536 * 1024) in run("volume", "get", "--bytes").out


def test_transfers_of_all_kinds_are_one_list_that_can_be_narrowed(run, server):
    backup = server.put(a_backup("nightly"))
    upload = a_transfer("up", TransferPhase.IN_PROGRESS, volume=("shop", "db"))
    server.put(upload.with_metadata(labels={BACKUP_LABEL: backup["metadata"]["uid"]}))
    server.put(a_transfer("other", volume=("blog", "db")))

    assert run("transfer", "get", "-o", "name").out == "transfer/other\ntransfer/up\n"
    assert run("transfer", "get", "--backup", "nightly", "-o", "name").out == "transfer/up\n"
    assert run("transfer", "get", "-n", "blog", "-o", "name").out == "transfer/other\n"


def test_describe_tells_why_a_backup_waits_and_what_its_volumes_do(run, server):
    waiting = {
        "type": "Waiting",
        "status": "True",
        "reason": "NamespaceOverlapRunning",
        "message": "b1 works on shop",
        "lastTransitionTime": "2026-01-01T11:56:48Z",
    }
    backup = server.put(a_backup("nightly", "shop"), phase="Queued", queuePosition=2, conditions=[waiting])
    upload = a_transfer("up", volume=("shop", "db")).with_metadata(labels={BACKUP_LABEL: backup["metadata"]["uid"]})
    server.put(upload, phase="InProgress", progress={"bytesDone": 512, "totalBytes": 2048, "bytesPerSecond": 256.0})

    out = run("backup", "describe", "nightly").out

    assert "Queue position:  2" in out
    assert "NamespaceOverlapRunning" in out
    assert "(3m12s ago)" in out
    assert "Volume shop/db" in out
    assert "512 B of 2.0 KiB (25 %)" in out
    assert "256 B/s" in out


@pytest.mark.parametrize(
    ("command", "word"),
    [
        (("restore", "describe", "r1"), "Existing data"),
        (("volume", "describe", "shop/db"), "Last backup"),
        (("target", "describe", "store"), "Polled every"),
        (("transfer", "describe", "up"), "In the store"),
    ],
)
def test_each_noun_can_be_described(run, server, command, word):
    server.put({"kind": "Restore", "metadata": {"name": "r1"}, "spec": {"backupName": "nightly"}})
    server.put(a_volume("shop", "db"))
    server.put(a_target("store"))
    server.put(a_transfer("up"))
    server.answers["GET", "/v1/catalogue/damage/store"] = (200, {"volumes": 0, "backups": 0, "named": []})

    result = run(*command)

    assert result.code == 0
    assert word in result.out


def test_a_target_with_broken_cfgs_counts_and_names_them(run, server):
    server.put(a_target("store"))
    named = ["volume pvc-1: volume.cfg is not valid JSON", "backup b-1 of volume pvc-2: torn"]
    server.answers["GET", "/v1/catalogue/damage/store"] = (200, {"volumes": 1, "backups": 7, "named": named})

    out = run("target", "describe", "store").out

    assert "Broken:        1 volume and 7 backups" in out
    assert all(sentence in out for sentence in named)
    assert "6 more" in out
    assert "tidegate catalog search --target store --state Error" in out


@pytest.mark.parametrize("noun", ["backup", "restore", "target", "namespace", "setting", "transfer", "node", "volume"])
@pytest.mark.parametrize("form", ["table", "wide", "json", "yaml", "jsonl", "name"])
def test_every_noun_has_every_form(run, server, noun, form):
    kinds = {"target": "BackupTarget", "transfer": "DataUpload"}
    resources = {
        "backup": a_backup("x"),
        "restore": {"kind": "Restore", "metadata": {"name": "x"}, "spec": {"backupName": "b"}},
        "target": a_target("x"),
        "transfer": a_transfer("x"),
        "volume": a_volume("shop", "x"),
        "setting": {"kind": "Setting", "metadata": {"name": "x"}, "spec": {"value": "1"}},
    }
    plain = {"kind": kinds.get(noun, noun.capitalize()), "metadata": {"name": "x"}, "spec": {}}
    server.put(resources.get(noun, plain))

    result = run(noun, "get", "-o", form)

    assert result.code == 0
    assert "x" in result.out
