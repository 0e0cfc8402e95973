"""A store that others filled, seen through a real server: by our own commands and by a client made for Longhorn."""

import asyncio
import shutil
from datetime import UTC, datetime, timedelta

import httpx2
import pytest

from api.longhorn_client import LonghornClient  # type: ignore[import-not-found]  # pytest has tests/ on its path
from tidegate.format.blocks.compression import Compression
from tidegate.format.cfgs.backup_cfg import BackupCfg, BlockRef, block_parameters
from tidegate.format.cfgs.paths import backup_cfg_key, volume_cfg_key, volume_dir
from tidegate.format.cfgs.times import format_time
from tidegate.format.cfgs.volume_cfg import VolumeCfg

MIB = 1 << 20
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


def write(store, key, content):
    path = store / key
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)


def fill(store, volume, *backups, labels=None):
    for number, name in enumerate(backups):
        at = format_time(BEGINNING + timedelta(hours=number))
        cfg = BackupCfg(
            name=name,
            volume_name=volume,
            compression=Compression.LZ4,
            snapshot_name=f"snap-{name}",
            snapshot_created_at=at,
            created_time=at,
            labels=labels or {},
            parameters=block_parameters(block_size=2 * MIB, true_size=8 * MIB),
            newly_uploaded_size=100,
            blocks=[BlockRef(0, f"{number:064x}")],
        )
        write(store, backup_cfg_key(volume, name), cfg.encode())
    whole = VolumeCfg(
        name=volume,
        size=8 * MIB,
        labels=labels or {},
        created_time=format_time(BEGINNING),
        last_backup_name=backups[-1],
        last_backup_at=format_time(BEGINNING),
        block_count=1,
        compression=Compression.LZ4,
    )
    write(store, volume_cfg_key(volume), whole.encode())


@pytest.fixture
def store(server, tmp_path):
    store = tmp_path / "far"
    fill(store, "vol-db", "backup-1", "backup-2", labels={"RecurringJob": "nightly"})
    fill(store, "vol-web", "backup-3")
    fill(store, "vol-log", "backup-4")
    server.tidegate("target", "create", "far", str(store), "--poll-interval", "0")
    assert "3 volumes looked at, 0 errors" in server.run("target", "sync", "far", "--wait").stderr
    return store


def test_a_store_that_others_filled_is_found_and_searched_by_commands(server, store):
    found = server.get("backup-volume", "get")["items"]
    searched = server.get("catalog", "search", "-l", "RecurringJob=nightly", "--since", "2026-01-01T00:30Z")["items"]
    counted = server.get("catalog", "search", "--target", "far", "--count")

    assert [(one["id"], one["backupCount"]) for one in found] == [
        ("vol-db@far", 2),
        ("vol-log@far", 1),
        ("vol-web@far", 1),
    ]
    assert [backup["name"] for backup in searched] == ["backup-2"]
    assert counted == {"volumes": 3, "backups": 4, "more": False}
    assert "vol-db" in server.tidegate("backup-volume", "describe", "vol-db")
    assert [line.split()[0] for line in server.tidegate("catalog", "status").splitlines()] == ["TARGET", "far"]
    assert server.tidegate("catalog", "search", "web", "--volumes", "-o", "name") == "backup-volume/vol-web@far\n"


def test_a_new_backup_is_seen_when_somebody_asks_for_its_volume_or_its_target(server, store):
    fill(store, "vol-new", "backup-5")
    fill(store, "vol-web", "backup-3", "backup-6")

    one = server.run("target", "sync", "far", "--volume", "vol-new", "--wait")
    assert (one.returncode, "Volume vol-new in target far is synced" in one.stderr) == (0, True)
    assert server.get("backup-volume", "get", "vol-new")["lastBackupName"] == "backup-5"
    assert server.get("backup-volume", "get", "vol-web")["backupCount"] == 1
    server.tidegate("target", "sync", "far", "--wait")
    assert server.get("backup-volume", "get", "vol-web")["backupCount"] == 2
    assert server.run("target", "sync", "nowhere").returncode == 5


def test_volumes_that_vanish_are_held_back_until_somebody_confirms_it(server, store):
    for volume in ("vol-db", "vol-web"):
        shutil.rmtree(store / volume_dir(volume))

    held = server.run("target", "sync", "far", "--wait")
    described = server.tidegate("target", "describe", "far")
    assert (held.returncode, len(server.get("backup-volume", "get")["items"])) == (3, 3)
    words = described.partition("tidegate target sync far --confirm-vanished ")[2].split()
    assert words, described
    assert server.run("target", "sync", "far", "--confirm-vanished", "something").returncode == 4
    server.tidegate("target", "sync", "far", "--confirm-vanished", words[0], "--wait")
    assert [one["name"] for one in server.get("backup-volume", "get")["items"]] == ["vol-log"]


def test_a_target_that_is_deleted_takes_its_lists_along_and_brings_them_back_and_no_store_is_touched(server, store):
    """L12 and what becomes of an extra target: the lists go, the other target's stay, and the store does not notice."""
    files = sorted(str(path) for path in store.rglob("*"))
    other = store.with_name("other")
    fill(other, "vol-other", "backup-7")
    server.tidegate("target", "create", "other", str(other), "--poll-interval", "0")
    server.tidegate("target", "sync", "other", "--wait")

    server.tidegate("target", "delete", "far", "--yes")
    server.wait_for_log("target is forgotten", target="far")
    assert [one["id"] for one in server.get("backup-volume", "get")["items"]] == ["vol-other@other"]
    assert sorted(str(path) for path in store.rglob("*")) == files

    server.tidegate("target", "create", "far", str(store), "--poll-interval", "0")
    server.tidegate("target", "sync", "far", "--wait")
    assert len(server.get("backup-volume", "get")["items"]) == 4


def test_a_broken_backup_is_listed_with_its_error_and_a_partial_sync_says_so(server, store):
    write(store, backup_cfg_key("vol-db", "backup-9"), b"{not json")

    server.run("target", "sync", "far", "--wait")
    broken = server.get("catalog", "search", "--state", "Error")["items"]

    assert [(one["name"], bool(one["error"])) for one in broken] == [("backup-9", True)]


def test_a_client_made_for_longhorn_works_with_the_real_server(server, store):
    async def drive():
        async with httpx2.AsyncClient(timeout=60) as http:
            client = await LonghornClient(http, server.token).connect(f"{server.url}/v1/schemas")
            volumes = (await client.list_backupVolume()).data
            db = next(volume for volume in volumes if volume.volumeName == "vol-db")
            backups = (await db.backupList()).data
            one = await db.backupGet(name="backup-1")
            target = await client.by_id_backupTarget("far")
            synced = await target.backupTargetSync(syncBackupTarget=True)
            return [volume.name for volume in volumes], [backup.name for backup in backups], one.url, synced.available

    names, backups, url, available = asyncio.run(drive())
    assert names == ["vol-db", "vol-log", "vol-web"]
    assert backups == ["backup-2", "backup-1"]
    assert url.endswith("?backup=backup-1&volume=vol-db")
    assert available is True


def test_a_volume_has_one_size_wherever_it_is_shown(server, tmp_path):
    """Eleven bytes in a tree are eleven bytes, and a sparse image is all of its bytes, however much the store holds."""
    (tmp_path / "store").mkdir()
    (tmp_path / "tiny").mkdir()
    (tmp_path / "tiny" / "a").write_text("hello there")
    with (tmp_path / "disk.img").open("wb") as image:
        image.truncate(9 * MIB)
    server.tidegate("target", "create", "near", str(tmp_path / "store"))
    server.tidegate("volume", "create", "tiny", "-n", "home", "--directory", str(tmp_path / "tiny"))
    server.tidegate("volume", "create", "disk", "-n", "home", "--image", str(tmp_path / "disk.img"))
    server.tidegate("backup", "create", "b", "--wait")
    server.tidegate("target", "sync", "near", "--wait")

    for name, size, shown in (("tiny", 11, "11 B"), ("disk", 9 * MIB, "9.0 MiB")):
        assert server.get("volume", "get", f"home/{name}")["status"]["size"] == size
        assert server.get("catalog", "search", "--volume", f"home.{name}")["items"][0]["dataSize"] == str(size)
        assert server.get("backup-volume", "get", f"home.{name}")["dataSize"] == str(size)
        for words in ("volume get", "backup-volume get", "catalog search", "catalog search --volumes"):
            row = next(line for line in server.tidegate(*words.split()).splitlines() if name in line)
            assert shown in row, (words, row)
        for words in (f"volume describe home/{name}", f"backup-volume describe home.{name}"):
            assert shown in server.tidegate(*words.split()), words
