"""Backup volumes on the command line: nothing is deleted without a yes, and waiting ends with the truth."""

import pytest

VOLUME = {
    "id": "db@far",
    "type": "backupVolume",
    "name": "db",
    "volumeName": "db",
    "backupTargetName": "far",
    "size": "10485760",
    "dataSize": "8388608",
    "dataStored": "2097152",
    "backupCount": 3,
    "lastBackupAt": "2026-01-01T11:00:00Z",
    "messages": {"error": "volume.cfg is torn"},
}
PATH = "/v1/backupvolumes/db@far"


@pytest.fixture
def volume(server):
    page = {"type": "collection", "data": [VOLUME], "pagination": {"limit": 500, "next": None}}
    server.answers["GET", "/v1/backupvolumes/db"] = (200, VOLUME)
    server.answers["GET", "/v1/catalogue/volumes"] = (200, page)
    server.answers["DELETE", "/v1/backupvolumes/db%40far"] = (202, {"id": "deletion-1", "kind": "Deletion"})
    server.answers["POST", "/v1/backupvolumes/db%40far"] = (200, {**VOLUME, "deletion": "deletion-2"})
    return server


def deletions(server):
    return [(method, query, body) for method, _, query, body in server.requests if method != "GET"]


def test_volumes_are_listed_with_what_is_wrong_with_them(volume, run):
    rows = run("backup-volume", "get", "-t", "far").out.splitlines()

    assert rows[1].split()[:7] == ["db", "far", "8.0", "MiB", "2.0", "MiB", "3"]
    assert rows[1].endswith("volume.cfg is torn")
    assert volume.requests[-1][2] == {"target": "far", "limit": "500"}


def test_an_empty_list_says_which_stores_have_not_been_read_yet(volume, run):
    page = {"type": "collection", "data": [], "pagination": {"limit": 500, "next": None}, "notReadYet": ["far"]}
    for where in ("volumes", "backups"):
        volume.answers["GET", f"/v1/catalogue/{where}"] = (200, page)

    for words in (("backup-volume", "get"), ("catalog", "search"), ("catalog", "search", "--volumes")):
        assert "Not read yet: target far; what it holds is missing here." in run(*words).err


def test_a_volume_goes_only_after_a_yes(volume, run):
    refused = run("backup-volume", "delete", "db")
    assert (refused.code, deletions(volume)) == (2, [])

    done = run("backup-volume", "delete", "db", "--yes")
    assert (done.code, done.out) == (0, "backup-volume/db@far\n")
    assert deletions(volume) == [("DELETE", {}, None)]


def test_single_backups_go_by_one_request_and_the_volume_is_not_named_for_deletion(volume, run):
    done = run("backup-volume", "delete", "db", "--backup", "b-1", "--backup", "b-2", "--yes")

    assert done.code == 0
    assert deletions(volume) == [("POST", {"action": "backupDelete"}, {"names": ["b-1", "b-2"]})]
    assert run("backup-volume", "delete", "db", "other", "--backup", "b-1", "--yes").code == 2


@pytest.mark.parametrize(
    ("status", "code"),
    [({"phase": "Done"}, 0), ({"phase": "Refused", "message": "a restore reads it"}, 6), ({"phase": "Waiting"}, 7)],
    ids=["done", "refused", "too slow"],
)
def test_waiting_for_a_deletion_ends_with_the_truth(volume, run, status, code):
    volume.answers["GET", "/v1/deletions/deletion-1"] = (200, {"kind": "Deletion", "status": status})

    done = run("backup-volume", "delete", "db", "--yes", "--wait", "--timeout", "5s")

    assert done.code == code
    assert status.get("message", "") in done.err
