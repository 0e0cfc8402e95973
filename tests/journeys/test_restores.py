"""What a person does when something is lost: look what would happen, bring it back, or stop that."""

import hashlib
import json
import shutil

import pytest

from tidegate.format.cfgs.lock_file import LockFile, LockType
from tidegate.format.cfgs.paths import lock_key
from tidegate.testing.sample_data import fill_image, fill_tree, picture
from tidegate.testing.stores.golden import GOLDEN, WHY_SKIPPED, copy_of_store, golden_backups


@pytest.fixture
def protected(server, tmp_path):
    """Two namespaces in one backup of a schedule."""
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "home/docs", "--directory", str(fill_tree(tmp_path / "docs")))
    server.tidegate("volume", "create", "vm/disk", "--image", str(fill_image(tmp_path / "disk.img")))
    server.tidegate("backup", "create", "first", "--labels", "tidegate.dev/schedule=nightly", "--wait")
    return server


def test_the_newest_backup_of_a_schedule_comes_back_and_says_which_it_was(protected, tmp_path):
    before = picture(tmp_path / "docs")
    shutil.rmtree(tmp_path / "docs")

    protected.tidegate("restore", "create", "r", "--from-schedule", "nightly", "--include-namespaces", "home", "--wait")

    assert picture(tmp_path / "docs") == before
    restore = protected.get("restore", "get", "r")
    assert restore["status"]["backupName"] == "first"
    assert restore["status"]["targetVolumes"] == ["home/docs"]
    log = json.loads(protected.tidegate("restore", "logs", "r", "-o", "json"))["items"]
    assert [line["what"] for line in log if line["who"] == "restore r"][-1] == "Completed"
    assert [line["time"] for line in log] == sorted(line["time"] for line in log)
    refused = protected.run("restore", "create", "--from-schedule", "nihgtly")
    assert (refused.returncode, "nihgtly" in refused.stderr) == (5, True)


def test_a_plan_tells_conflicts_first_and_changes_nothing(protected, tmp_path):
    before = picture(tmp_path / "docs"), protected.get("restore", "get")

    planned = protected.run("restore", "plan", "--from-backup", "first")
    data = protected.run("restore", "plan", "--from-backup", "first", "-o", "json")
    shown = protected.run("restore", "create", "--from-backup", "first", "--dry-run")

    assert (planned.returncode, data.returncode) == (6, 6)
    assert planned.stdout.index("Conflicts") < planned.stdout.index("VOLUME")
    conflicts = json.loads(data.stdout)["conflicts"]
    assert [conflict["volume"] for conflict in conflicts] == ["home/docs", "vm/disk"]
    assert "a directory with 3 entries" in conflicts[0]["message"]
    assert (shown.returncode, "2 of 2 volumes would not come back" in shown.stderr) == (6, True)
    assert (picture(tmp_path / "docs"), protected.get("restore", "get")) == before
    protected.tidegate("backup", "create", "second", "--include-namespaces", "home", "--wait", "--timeout", "1m")
    elsewhere = protected.run("restore", "plan", "--from-backup", "first", "--to", str(tmp_path / "new"))
    assert (elsewhere.returncode, (tmp_path / "new").exists()) == (0, False)


def test_a_restore_to_where_the_kernel_shows_itself_is_refused_at_once(protected):
    refused = protected.run("restore", "create", "--from-backup", "first", "--to", "/proc/x", "--wait")

    assert (refused.returncode, "/proc" in refused.stderr) == (6, True), refused.stderr
    assert protected.get("restore", "get")["items"] == []


def test_a_mapped_namespace_gets_the_volume_of_the_same_name(protected, tmp_path):
    (tmp_path / "copy").mkdir()
    unknown = protected.run("restore", "create", "--from-backup", "first", "--namespace-mappings", "home:copy")
    protected.tidegate("volume", "create", "copy/docs", "--directory", str(tmp_path / "copy"))

    protected.tidegate(
        *("restore", "create", "--from-backup", "first", "--include-namespaces", "home"),
        *("--namespace-mappings", "home:copy", "--wait"),
    )

    assert (unknown.returncode, "there is no volume copy/docs" in unknown.stderr) == (6, True)
    assert picture(tmp_path / "copy") == picture(tmp_path / "docs")


def test_only_the_paths_that_were_asked_for_come_back(protected, tmp_path):
    protected.tidegate(
        *("restore", "create", "--from-backup", "first", "--include-volumes", "home/docs"),
        *("--include-paths", "text.txt", "--to", str(tmp_path / "look"), "--wait"),
    )

    assert [path.name for path in (tmp_path / "look/home/docs").iterdir()] == ["text.txt"]
    refused = protected.run(
        *("restore", "create", "--from-backup", "first", "--include-paths", "text.txt"),
        *("--existing-data", "overwrite"),
    )
    assert (refused.returncode, "would be lost" in refused.stderr) == (4, True)


def test_a_volume_backup_is_restored_by_its_url_also_where_nobody_knows_the_volume(protected, tmp_path):
    url = protected.get("volume", "get", "home/docs")["status"]["lastBackupUrl"]
    before = picture(tmp_path / "docs")
    shutil.rmtree(tmp_path / "docs")
    protected.tidegate("volume", "delete", "home/docs", "--yes")

    protected.tidegate("restore", "create", "r", "--from-url", url, "--wait")

    assert picture(tmp_path / "docs") == before


@pytest.mark.skipif(not GOLDEN.is_dir(), reason=WHY_SKIPPED)
def test_a_backup_that_longhorn_wrote_is_restored_by_its_url(server, tmp_path):
    case, volume, backup, sha256 = golden_backups()[0]
    store = copy_of_store(case, tmp_path / "store")
    url = f"vfs://{store}?backup={backup}&volume={volume}"
    unknown = server.run("restore", "create", "--from-url", url, "--to", str(tmp_path / "back"))
    server.tidegate("target", "create", "longhorn", str(store))
    nowhere = server.run("restore", "create", "--from-url", url)

    server.tidegate("restore", "create", "r", "--from-url", url, "--to", str(tmp_path / "back"), "--wait")

    assert (unknown.returncode, "tidegate target create" in unknown.stderr) == (5, True)
    assert (nowhere.returncode, "say where to put it with --to" in nowhere.stderr) == (6, True)
    assert hashlib.sha256((tmp_path / "back" / volume).read_bytes()).hexdigest() == sha256


def test_a_restore_that_is_called_off_while_it_waits_has_written_nothing(protected, tmp_path):
    protected.tidegate("setting", "set", "concurrent-backup-restore-limit", "0")
    protected.tidegate("restore", "create", "r", "--from-backup", "first", "--to", str(tmp_path / "a"))
    protected.wait_for_log("restore waits", restore="r")
    described = protected.tidegate("restore", "describe", "r")

    protected.tidegate("restore", "cancel", "r", "--yes", "--wait", "--timeout", "60s")

    assert "RestoresDisabled" in described
    assert (protected.get("restore", "get", "r")["status"]["phase"], (tmp_path / "a").exists()) == ("Canceled", False)
    over = protected.run("restore", "cancel", "r", "--yes")
    assert (over.returncode, "restore r is Canceled" in over.stderr) == (6, True)


def hold_up(store, volume):
    """Another client deletes something of the volume: whoever restores it has to wait."""
    name = "lock-0123456789abcdef"
    path = store / lock_key(volume, name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(LockFile(name, LockType.DELETION, acquired=True).encode())
    return path


def start_restoring_home(server, tmp_path):
    """Ask for it, and return when its download moves and waits for the lock."""
    shutil.rmtree(tmp_path / "docs")
    lock = hold_up(tmp_path / "store", "home.docs")
    server.tidegate("restore", "create", "r", "--from-backup", "first", "--include-namespaces", "home")
    server.wait_for_phase("PodVolumeRestore", "InProgress")
    return lock


def test_a_running_restore_keeps_backups_away_and_is_called_off(protected, tmp_path):
    start_restoring_home(protected, tmp_path)
    protected.tidegate("backup", "create", "later", "--include-namespaces", "home")
    protected.wait_for_log("backup queued", backup="later")

    (waiting,) = protected.get("queue", "list")["waiting"]
    protected.tidegate("restore", "cancel", "r", "--yes", "--wait", "--timeout", "60s")

    assert (waiting["reason"], waiting["blockedBy"]) == ("NamespaceOverlapRunning", "restore r")
    restore = protected.get("restore", "get", "r")["status"]
    assert (restore["phase"], (tmp_path / "docs").exists()) == ("Canceled", False)
    assert restore["failureReason"] == "cancelled on request; 0 of 1 volumes were brought back"
    # The source is gone, so the backup fails; what matters is that it no longer waits.
    assert protected.run("backup", "wait", "later", "--timeout", "120s").returncode == 1


def test_a_restore_goes_on_although_the_server_is_killed(protected, tmp_path):
    before = picture(tmp_path / "docs")
    lock = start_restoring_home(protected, tmp_path)

    protected.kill()
    lock.unlink()
    protected.start()
    protected.tidegate("restore", "wait", "r", "--timeout", "120s")

    assert picture(tmp_path / "docs") == before
    with protected.client() as client:
        (download,) = client.get("/v1/podvolumerestores").json()["data"]
    assert download["metadata"]["labels"]["tidegate.dev/attempt"] == "1"
