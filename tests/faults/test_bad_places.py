"""Stores and destinations that are full, read-only or have something mounted in them: real ones, mounted for the test.

Each test is a shell script that `tidegate` is called in, with mounts that only this script sees.
"""

import os
import subprocess
import sys

import pytest

from tidegate.testing.sample_data import fill_tree, picture

MIB = 1024 * 1024
# Ends with the first command that fails, but for those that are meant to.
OWN_MOUNTS = ["unshare", "--mount", "--propagation", "private", "sh", "-eu", "-c"]
PRELUDE = 'tidegate() { "$PYTHON" -m tidegate "$@"; }\nfails() { if "$@"; then exit 99; else echo "exit $?"; fi; }\n'


def shell(script, cwd, *, mounts="true"):
    environment = {**os.environ, "PYTHON": sys.executable, "TIDEGATE_MAPS_DIR": str(cwd / "maps")}
    allowed = subprocess.run(
        [*OWN_MOUNTS, mounts], check=False, cwd=cwd, env=environment, capture_output=True, text=True
    )
    if allowed.returncode:
        pytest.skip(f"nothing can be mounted here: {allowed.stderr.strip()}")
    done = subprocess.run(
        [*OWN_MOUNTS, f"{PRELUDE}{mounts}\n{script}"],
        check=False,
        cwd=cwd,
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done


@pytest.fixture
def place(tmp_path):
    for name in ("store", "small"):
        (tmp_path / name).mkdir()
    (tmp_path / "large.img").write_bytes(os.urandom(8 * MIB))
    (tmp_path / "tiny.img").write_bytes(b"tiny")
    return tmp_path


FULL = "mount -t tmpfs -o size=5m none small"


def test_a_store_that_is_full_ends_a_backup_with_a_sentence_and_stays_consistent(place):
    done = shell(
        """
        tidegate store backup tiny.img --to small --volume tiny --name first
        fails tidegate store backup large.img --to small --volume large --name second
        find small -name 'backup_*.cfg' -printf '%f\\n'
        cat /dev/zero > small/rest || true
        tidegate store restore 'small?backup=first&volume=tiny' --to back.img
        rm small/rest
        tidegate store gc small
        tidegate store verify small --read-data 100
        tidegate store backup tiny.img --to small --volume large --name third
        """,
        place,
        mounts=FULL,
    )

    assert "No space left on device" in done.stderr
    assert "free some space and try again" in done.stderr.lower()
    assert "backup_first.cfg" in done.stdout
    assert "backup_second.cfg" not in done.stdout
    assert "exit 1\n" in done.stdout
    assert "without a lock, because the store is full" in done.stderr
    assert (place / "back.img").read_bytes() == b"tiny"


def test_a_store_that_is_read_only_refuses_a_backup_and_still_restores(place):
    done = shell(
        """
        tidegate store backup tiny.img --to store --volume tiny --name first
        mount --bind store store && mount -o remount,bind,ro store
        fails tidegate store backup tiny.img --to store --volume tiny --name second
        tidegate store restore 'store?backup=first&volume=tiny' --to back.img
        """,
        place,
        mounts="mount --bind store store && umount store",
    )

    assert "Read-only file system" in done.stderr
    assert "exit 12\n" in done.stdout
    assert "without a lock, because the store may not be written to" in done.stderr
    assert (place / "back.img").read_bytes() == b"tiny"


def test_a_disk_that_is_full_ends_a_restore_of_an_image_and_nothing_is_left_there(place):
    done = shell(
        """
        tidegate store backup large.img --to store --volume large --name first
        echo old > small/disk.img
        fails tidegate store restore 'store?backup=first&volume=large' --to small/disk.img --overwrite
        ls -A small; cat small/disk.img
        """,
        place,
        mounts=FULL,
    )

    assert "small/disk.img cannot be written: No space left on device" in done.stderr
    assert done.stdout.splitlines()[-2:] == ["disk.img", "old"]


def test_a_disk_that_is_full_ends_a_restore_of_a_tree_and_nothing_is_left_there(place):
    fill_tree(place / "tree")
    done = shell(
        """
        tidegate store backup tree --to store --volume tree --name first
        mkdir small/tree && echo old > small/tree/text.txt
        fails tidegate store restore 'store?backup=first&volume=tree' --to small/tree --overwrite
        ls -A small; cat small/tree/text.txt
        """,
        place,
        mounts="mount -t tmpfs -o size=3m none small",
    )

    assert "small/tree cannot be written: No space left on device" in done.stderr
    assert done.stdout.splitlines()[-2:] == ["tree", "old"]


def test_a_tree_with_something_mounted_in_it_is_never_replaced(place):
    fill_tree(place / "tree")
    done = shell(
        """
        tidegate store backup tree --to store --volume tree --name first
        mkdir -p busy/mount && mount -t tmpfs none busy/mount && echo precious > busy/mount/data
        fails tidegate store restore 'store?backup=first&volume=tree' --to busy --overwrite --force
        cat busy/mount/data
        umount busy/mount
        tidegate store restore 'store?backup=first&volume=tree' --to busy --overwrite
        """,
        place,
        mounts="mkdir -p busy && mount -t tmpfs none busy && umount busy",
    )

    assert f"busy cannot be replaced: something is mounted at {place}/busy/mount" in done.stderr
    assert "precious" in done.stdout
    assert picture(place / "busy") == picture(place / "tree")


def test_a_directory_that_is_a_mount_point_is_replaced_only_by_force_and_entry_by_entry(place):
    fill_tree(place / "tree")
    (place / "tree").chmod(0o751)
    done = shell(
        """
        tidegate store backup tree --to store --volume tree --name first
        echo precious > small/data; mkdir small/lost+found
        fails tidegate store restore 'store?backup=first&volume=tree' --to small --overwrite
        fails tidegate store restore 'store?backup=first&volume=tree' --to small --force
        cat small/data
        tidegate store restore 'store?backup=first&volume=tree' --to small --overwrite --force
        mountpoint small; ls -A small
        rmdir small/lost+found; touch -r tree small
        cp -a small copy
        """,
        place,
        mounts="mount -t tmpfs none small",
    )

    assert "small is a mount point: what is mounted there can be replaced only entry by entry" in done.stderr
    assert "whoever uses it meanwhile sees a mixture" in done.stderr
    assert "small is not empty" in done.stderr
    assert "precious" in done.stdout
    names = {"lost+found", *(path.name for path in (place / "tree").iterdir())}
    assert {*done.stdout.partition("is a mountpoint\n")[2].split()} == names
    assert picture(place / "copy") == picture(place / "tree")


def test_a_fresh_file_system_counts_as_empty_and_one_that_is_too_small_stays_as_it_was(place):
    fill_tree(place / "tree")
    done = shell(
        """
        tidegate store backup tree --to store --volume tree --name first
        mkdir small/lost+found
        fails tidegate store restore 'store?backup=first&volume=tree' --to small --force
        ls -A small
        mount -o remount,size=100m small
        tidegate store restore 'store?backup=first&volume=tree' --to small --force
        """,
        place,
        mounts="mount -t tmpfs -o size=3m none small",
    )

    assert "small cannot be written: No space left on device" in done.stderr
    assert done.stdout.splitlines()[-2] == "lost+found"


ON_A_LOOP = """
truncate -s 20M disk.img && mkfs.ext4 -q disk.img && mount -o loop disk.img small
"""


def test_a_device_that_is_mounted_is_written_to_only_by_force_and_the_result_says_so(place):
    done = shell(
        """
        tidegate store backup large.img --to store --volume large --name first
        device=$(findmnt -no SOURCE small)
        fails tidegate store restore 'store?backup=first&volume=large' --to $device
        sync; fails cmp -s -n 8388608 $device large.img
        tidegate store restore 'store?backup=first&volume=large' --to $device --force
        umount small || true
        """,
        place,
        mounts=ON_A_LOOP,
    )

    assert "is a block device, mounted at" in done.stderr
    assert "whoever uses it goes on with what is there no more" in done.stderr
    assert "was written to all the same, because it was forced" in done.stderr
    assert (place / "disk.img").read_bytes()[4 * MIB : 8 * MIB] == (place / "large.img").read_bytes()[4 * MIB :]
