"""`delete`: never without a yes, and honest about what depends on a thing."""

from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import Restore, RestoreSpec
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.testing.resources.builders import a_backup, a_transfer, a_volume


def test_without_a_terminal_nothing_is_deleted_without_yes(run, server):
    server.put(a_backup("nightly"))

    result = run("backup", "delete", "nightly")

    assert result.code == 2
    assert "--yes" in result.err
    assert len(server.resources) == 1


def test_several_are_deleted_by_name(run, server):
    server.put(a_backup("b1"))
    server.put(a_backup("b2"))

    result = run("backup", "delete", "b1", "b2", "--yes")

    assert (result.code, result.out) == (0, "backup/b1\nbackup/b2\n")
    assert server.resources == {}


def test_all_that_a_selector_finds_are_deleted(run, server):
    server.put(a_volume("shop", "db", tier="data"))
    server.put(a_volume("shop", "cache", tier="cache"))

    run("volume", "delete", "--all", "-l", "tier=cache", "--yes")

    assert list(server.resources) == [("volumes", "shop", "db")]


def test_names_and_a_selection_together_are_wrong_usage_as_is_neither(run, server):
    server.put(a_backup("b1"))

    assert run("backup", "delete", "b1", "--all", "--yes").code == 2
    assert run("backup", "delete", "--yes").code == 2
    assert len(server.resources) == 1


def test_a_dry_run_needs_no_yes_and_deletes_nothing(run, server):
    server.put(a_backup("b1"))

    result = run("backup", "delete", "b1", "--dry-run")

    assert result.code == 0
    assert "would be deleted" in result.err
    assert len(server.resources) == 1


def test_one_that_is_missing_does_not_keep_the_others_and_the_exit_code_tells(run, server):
    server.put(a_backup("b2"))

    result = run("backup", "delete", "b1", "b2", "--yes")

    assert result.code == 5
    assert result.out == "backup/b2\n"
    assert "there is no b1" in result.err
    assert server.resources == {}


def test_a_restore_that_still_reads_from_a_backup_is_named(run, server):
    server.put(a_backup("nightly"))
    server.put(Restore(metadata=Metadata(name="look"), spec=RestoreSpec(backup_name="nightly")), phase="InProgress")

    assert "Restore look still reads from backup nightly." in run("backup", "delete", "nightly", "--yes").err


def test_the_backups_of_a_target_the_volumes_of_a_namespace_and_moving_volumes_are_named(run, server):
    server.put({"kind": "BackupTarget", "metadata": {"name": "store"}, "spec": {"url": "file:///x"}})
    server.put({"kind": "Namespace", "metadata": {"name": "shop"}, "spec": {}})
    server.put(a_backup("nightly"))
    server.put(a_volume("shop", "db"))
    server.put(a_transfer("up", TransferPhase.IN_PROGRESS, volume=("shop", "db")))

    assert "Target store holds 1 backup (nightly)." in run("target", "delete", "store", "--yes").err
    assert "Namespace shop has 1 volume (db)." in run("namespace", "delete", "shop", "--yes").err
    assert "Transfer up still moves volume shop/db." in run("volume", "delete", "shop/db", "--yes").err


def test_wait_stays_until_the_server_has_cleaned_up(run, server):
    server.put(a_backup("nightly"))
    server.lingering = True
    server.when_listening(lambda: server.remove("backups", "nightly"))

    result = run("backup", "delete", "nightly", "--yes", "--wait")

    assert result.code == 0
    assert result.err.splitlines()[-1] == "backup nightly: gone"


def test_waiting_for_the_clean_up_can_take_too_long(run, server):
    server.put(a_backup("nightly"))
    server.lingering = True

    assert run("backup", "delete", "nightly", "--yes", "--wait", "--timeout", "0.5s").code == 7
