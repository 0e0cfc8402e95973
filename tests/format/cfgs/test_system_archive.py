"""The archive of a system backup: the same bytes for the same content, and nothing hostile gets through."""

import io
import json
import zipfile
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import DamagedMetadata, InvalidInput
from tidegate.format.cfgs.system_archive import decode_archive, encode_archive, maker_of
from tidegate.format.cfgs.system_backup_cfg import (
    ArchivePlace,
    SystemBackupCfg,
    is_system_backup_name,
    place_of_cfg,
    split_archive_url,
)
from tidegate.model.resource import Metadata
from tidegate.model.setting import Setting, SettingSpec
from tidegate.model.system.system import StoredVolumeBackup, VolumeBackupPolicy
from tidegate.model.system_archive import ArchivedVolumeBackup, ArchiveMetadata, SystemArchive, definition_of
from tidegate.testing.resources.builders import THEN, a_schedule, a_target, a_volume

ROW = ArchivedVolumeBackup(
    volume="shop/db",
    target_url="file:///s",
    stored=StoredVolumeBackup(target="store", store_volume="shop.db", store_backup="backup-1"),
)


def an_archive(*definitions, rows=(ROW,), name="weekly"):
    metadata = ArchiveMetadata(
        version="tidegate-1", created_at=THEN, system_backup_uid="me", volume_backup_policy=VolumeBackupPolicy.ALWAYS
    )
    return SystemArchive(name, metadata, definitions, rows)


DEFINED = (
    Setting(metadata=Metadata(name="limit-upload"), spec=SettingSpec(value="1MiB")),
    a_target("store"),
    a_volume("shop", "db", app="shop"),
    a_volume("shop", "files"),
    a_schedule("nightly", "0 3 * * *"),
)


def test_what_is_packed_comes_back_without_what_belongs_to_one_server():
    back = decode_archive(encode_archive(an_archive(*DEFINED)), "weekly")

    assert [definition_of(one) for one in back.definitions] == [definition_of(one) for one in DEFINED]
    assert {one.metadata.uid for one in back.definitions} == {""}
    assert (back.metadata, back.volume_backups) == (an_archive().metadata, (ROW,))


@given(order=st.permutations(DEFINED))
def test_equal_content_gives_equal_bytes_in_whatever_order_it_was_listed(order):
    other_status = [one.with_metadata(uid="other", resource_version="7") for one in order]

    assert encode_archive(an_archive(*other_status)) == encode_archive(an_archive(*DEFINED))


def test_the_parts_lie_where_longhorn_has_them_and_are_plain_text():
    packed = zipfile.ZipFile(io.BytesIO(encode_archive(an_archive(*DEFINED))))

    assert packed.namelist() == sorted(packed.namelist())
    assert {"weekly/metadata.yaml", "weekly/yamls/tidegate/volumes.yaml"} < set(packed.namelist())
    assert json.loads(packed.read("weekly/yamls/tidegate/settings.yaml"))[0]["spec"] == {"value": "1MiB"}


def repacked(name="weekly", **changed):
    """The archive with other texts in some places."""
    body, packed = io.BytesIO(), zipfile.ZipFile(io.BytesIO(encode_archive(an_archive(*DEFINED))))
    with zipfile.ZipFile(body, "w", zipfile.ZIP_DEFLATED) as again:
        for path in packed.namelist():
            stem = path.rpartition("/")[2].removesuffix(".yaml")
            again.writestr(path, changed.get(stem, packed.read(path)))
    return body.getvalue()


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"not a zip",
        encode_archive(an_archive(name="other")),
        repacked(volumes="[1]"),
        repacked(volumes="{}"),
        repacked(volumes="[" * 100_000),
        repacked(metadata='{"format": 1}'),
        repacked(volumes=json.dumps([{**definition_of(DEFINED[2]), "kind": "Node"}])),
        repacked(volumes=json.dumps([definition_of(a_volume("shop", "db").with_metadata(namespace="../x"))])),
        repacked(settings=b" " * (65 * 1024 * 1024)),
    ],
    ids=["empty", "text", "other name", "number", "no list", "deep", "metadata", "other kind", "path", "bomb"],
)
def test_what_cannot_be_understood_is_damage_and_never_guessed(body):
    with pytest.raises(DamagedMetadata):
        decode_archive(body, "weekly")


def test_a_status_that_somebody_smuggled_in_is_dropped():
    volume = {**definition_of(DEFINED[2]), "status": {"lastBackup": "x"}}
    volume["metadata"] = {**volume["metadata"], "finalizers": ["f"], "uid": "u"}

    (back,) = [
        one
        for one in decode_archive(repacked(volumes=json.dumps([volume])), "weekly").definitions
        if one.kind == "Volume"
    ]

    assert (back.metadata.finalizers, back.metadata.uid, back.status.last_backup) == ((), "", None)


def test_an_archive_of_a_later_format_says_who_can_read_it():
    later = an_archive().metadata.replace(format=2, version="tidegate-9").to_json()

    with pytest.raises(DamagedMetadata, match="written by version tidegate-9"):
        decode_archive(repacked(metadata=later), "weekly")


def test_an_archive_knows_its_maker():
    assert maker_of(encode_archive(an_archive()), "weekly") == "me"
    assert maker_of(b"junk", "weekly") is None


@given(junk=st.binary(max_size=400))
def test_junk_in_place_of_an_archive_is_never_a_crash(junk):
    with pytest.raises(DamagedMetadata):
        decode_archive(junk, "weekly")


CFG = SystemBackupCfg(
    name="weekly",
    version="tidegate-1",
    target_url="s3://bucket@region/",
    checksum="ab" * 32,
    created_at=datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
)
PLACE = ArchivePlace("weekly", "tidegate-1")


def test_the_cfg_has_longhorns_eight_fields_and_comes_back():
    assert json.loads(CFG.encode()).keys() == {
        *("Name", "LonghornVersion", "LonghornGitCommit", "BackupTargetURL", "ManagerImage", "EngineImage"),
        *("CreatedAt", "Checksum"),
    }
    assert SystemBackupCfg.decode(CFG.encode(), PLACE) == CFG


def test_a_cfg_that_speaks_of_another_name_is_damage():
    with pytest.raises(DamagedMetadata):
        SystemBackupCfg.decode(CFG.encode(), ArchivePlace("weekl", "tidegate-1"))


@pytest.mark.parametrize(
    ("key", "place"),
    [
        ("backupstore/system-backups/v1.5.0/aa/system-backup.cfg", ArchivePlace("aa", "v1.5.0")),
        ("backupstore/system-backups/v1.5.0/aa/system-backup.zip", None),
        ("backupstore/system-backups/v1.5.0/AA/system-backup.cfg", None),
        ("backupstore/system-backups/../aa/system-backup.cfg", None),
        ("backupstore/system-backups/v1/b/aa/system-backup.cfg", None),
        ("backupstore/volumes/v1/aa/system-backup.cfg", None),
    ],
)
def test_only_a_cfg_at_its_place_is_a_system_backup(key, place):
    assert place_of_cfg(key) == place


@pytest.mark.parametrize("target", ["file:///srv/store", "s3://bucket@region", "nfs://host:/x?nfsOptions=soft"])
def test_a_url_leads_back_to_the_target_and_the_place(target):
    assert split_archive_url(PLACE.url(target)) == (target, PLACE)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "weekly",
        "file:///x",
        "file:///x/backupstore/system-backups/v1",
        "file:///x/backupstore/system-backups/v1/../y",
    ],
)
def test_a_text_that_is_no_url_of_a_system_backup_is_told_as_such(url):
    assert split_archive_url(url) is None


def test_names_that_could_lead_elsewhere_are_no_places():
    assert is_system_backup_name("a")
    assert not is_system_backup_name("a" * 201)
    for name, version in (("..", "v1"), ("a/b", "v1"), ("a", ".."), ("a", ""), ("a", "v/1"), ("a", "-v")):
        with pytest.raises(InvalidInput):
            ArchivePlace(name, version)
