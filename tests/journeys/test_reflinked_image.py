"""An image on a file system with reflinks: its backup leaves the queue as soon as its snapshot is taken."""

import os

MIB = 2**20


def test_a_backup_of_a_reflinked_image_makes_room_at_once_and_holds_what_was_there_then(server, reflinks, tmp_path):
    disk, old, new = reflinks / "disk", os.urandom(12 * MIB), os.urandom(12 * MIB)
    disk.write_bytes(old)
    (tmp_path / "store").mkdir()
    server.tidegate("target", "create", "usb", str(tmp_path / "store"))
    server.tidegate("volume", "create", "shop/disk", "--image", str(disk))
    for setting, value in (("concurrent-backups", "1"), ("limit-upload", "256KiB")):
        server.tidegate("setting", "set", setting, value)

    server.tidegate("backup", "create", "first")
    server.wait_for_phase("Backup", "WaitingForPluginOperations")
    disk.write_bytes(new)
    said = server.run("backup", "create", "second").stderr

    assert "Backup second starts at once." in said
    assert server.get("backup", "get", "first")["status"]["phase"] == "WaitingForPluginOperations"
    server.tidegate("setting", "unset", "limit-upload")
    server.tidegate("backup", "wait", "first", "second", "--timeout", "200s")
    for name, content in (("first", old), ("second", new)):
        place = tmp_path / name
        server.tidegate("restore", "create", "--from-backup", name, "--to", str(place), "--wait")
        assert (place / "shop" / "disk").read_bytes() == content
