"""What a person does on the first day: protect, lose, bring back."""

import json
import shutil

from tidegate.testing.sample_data import fill_image, fill_tree, picture


def protect(server, tmp_path):
    store = tmp_path / "store"
    store.mkdir()
    docs, disk = fill_tree(tmp_path / "docs"), fill_image(tmp_path / "disk.img")
    server.tidegate("target", "create", "disk", str(store))
    server.tidegate("volume", "create", "docs", "-n", "home", "--directory", str(docs))
    server.tidegate("volume", "create", "disk", "-n", "vm", "--image", str(disk))
    return docs, disk


def test_what_was_destroyed_comes_back_byte_for_byte_where_it_was(server, tmp_path):
    docs, disk = protect(server, tmp_path)
    before = picture(docs), disk.read_bytes()
    server.tidegate("backup", "create", "first", "--include-namespaces", "home,vm", "--wait")
    shutil.rmtree(docs)
    disk.unlink()

    server.tidegate("restore", "create", "back", "--from-backup", "first", "--wait")

    assert (picture(docs), disk.read_bytes()) == before


def test_what_a_volume_excludes_is_in_no_backup_of_it(server, tmp_path):
    protect(server, tmp_path)
    server.tidegate("volume", "delete", "home/docs", "--yes")
    server.tidegate("volume", "create", "home/docs", "--directory", str(tmp_path / "docs"), "--exclude", "deep")
    server.tidegate("backup", "create", "first", "--include-namespaces", "home", "--wait")

    server.tidegate("restore", "create", "--from-backup", "first", "--to", str(tmp_path / "elsewhere"), "--wait")

    assert sorted(path.name for path in (tmp_path / "elsewhere/home/docs").iterdir()) == ["link", "text.txt"]
    assert "deep" in server.tidegate("volume", "describe", "home/docs")
    refused = server.run("volume", "create", "home/x", "--directory", str(tmp_path / "docs"), "--exclude", "../etc")
    assert (refused.returncode, "matches no path" in refused.stderr) == (4, True)


def test_a_restore_to_another_place_leaves_the_original_alone(server, tmp_path):
    docs, disk = protect(server, tmp_path)
    server.tidegate("backup", "create", "first", "--wait")
    (docs / "text.txt").write_text("newer than the backup")

    server.tidegate("restore", "create", "--from-backup", "first", "--to", str(tmp_path / "elsewhere"), "--wait")

    assert (docs / "text.txt").read_text() == "newer than the backup"
    assert (tmp_path / "elsewhere" / "home" / "docs" / "text.txt").read_text() == "tree 0\n" * 1000
    assert (tmp_path / "elsewhere" / "vm" / "disk").read_bytes() == disk.read_bytes()


def test_a_restore_never_overwrites_unless_told_to(server, tmp_path):
    docs, _ = protect(server, tmp_path)
    server.tidegate("backup", "create", "first", "--include-namespaces", "home", "--wait")
    (docs / "text.txt").write_text("precious")

    refused = server.run("restore", "create", "careful", "--from-backup", "first", "--wait")
    kept = (docs / "text.txt").read_text()
    server.tidegate("restore", "create", "bold", "--from-backup", "first", "--existing-data", "overwrite", "--wait")

    assert (refused.returncode, kept) == (6, "precious")
    assert [one["metadata"]["name"] for one in server.get("restore", "get")["items"]] == ["bold"]
    assert (docs / "text.txt").read_text() == "tree 0\n" * 1000


def test_a_deleted_backup_takes_its_data_along_and_leaves_the_others(server, tmp_path):
    docs, _ = protect(server, tmp_path)
    server.tidegate("backup", "create", "old", "--include-namespaces", "home", "--wait")
    (docs / "new.txt").write_text("only in the second")
    server.tidegate("backup", "create", "new", "--include-namespaces", "home", "--wait")
    blocks = len(list((tmp_path / "store").rglob("*.blk")))

    server.tidegate("backup", "delete", "old", "--yes", "--wait")

    assert len(list((tmp_path / "store").rglob("backup_*.cfg"))) == 1
    assert 0 < len(list((tmp_path / "store").rglob("*.blk"))) < blocks
    server.tidegate("restore", "create", "--from-backup", "new", "--to", str(tmp_path / "again"), "--wait")
    assert picture(tmp_path / "again" / "home" / "docs") == picture(docs)


def test_what_is_shown_agrees_everywhere(server, tmp_path):
    protect(server, tmp_path)
    server.tidegate("backup", "create", "first", "--include-namespaces", "home", "--wait")

    backup = server.get("backup", "get", "first")
    assert backup["status"]["phase"] == "Completed"
    assert server.tidegate("backup", "get", "-o", "name").split() == ["backup/first"]
    assert "Completed" in server.tidegate("backup", "describe", "first")
    volume = server.get("volume", "get", "docs", "-n", "home")
    assert volume["status"]["lastBackup"] == "first"
    cfg = next((tmp_path / "store").rglob("backup_*.cfg"))
    assert json.loads(cfg.read_text())["Labels"]["tidegate.dev/namespace"] == "home"


def test_settings_survive_a_restart_and_so_does_everything_else(server, tmp_path):
    protect(server, tmp_path)
    server.tidegate("setting", "set", "concurrent-backups", "3")
    server.tidegate("backup", "create", "first", "--include-namespaces", "home", "--wait")
    before = server.get("backup", "get", "first")
    assert server.stop() == 0

    server.start()

    assert server.get("backup", "get", "first") == before
    assert server.get("setting", "get", "concurrent-backups")["spec"]["value"] == "3"


def test_what_uploads_remember_is_kept_in_the_servers_own_directory(server, tmp_path):
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    # A file that nobody has written to lately: of others it cannot be told that they are settled.
    server.tidegate("volume", "create", "disk", "-n", "vm", "--image", __file__)

    server.tidegate("backup", "create", "first", "--wait")

    assert [path.suffix for path in (server.state / "maps").iterdir()] == [".json"]
    assert not (tmp_path / "home").exists()
