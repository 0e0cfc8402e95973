"""Working with a store directly: what people do, and what they do wrong."""

import json
import os
import signal
import subprocess
import sys

import pytest

from tidegate.cli.context import CliContext, NoClock
from tidegate.cli.environment import Environment
from tidegate.cli.stores.store_access import place_of
from tidegate.format.cfgs.paths import volume_dir
from tidegate.testing.sample_data import fill_image, fill_tree, picture


@pytest.fixture
def store(tmp_path):
    (tmp_path / "store").mkdir()
    return tmp_path / "store"


@pytest.fixture
def tree(run, store, tmp_path):
    """A tree, and a backup of it called backup-1."""
    path = fill_tree(tmp_path / "tree")
    result = run("store", "backup", "tree", "--to", "store", "--volume", "shop", "--name", "backup-1")
    assert result.code == 0, result.err
    return path


URL = "store?backup=backup-1&volume=shop"


def test_a_tree_goes_into_a_store_and_comes_back(run, tree, tmp_path):
    result = run("store", "restore", URL, "--to", "back", "-o", "json")

    assert result.code == 0
    assert result.json["url"].endswith("store?backup=backup-1&volume=shop")
    assert picture(tmp_path / "back") == picture(tree)


@pytest.mark.parametrize("place", ["store", "store/back", ".", "link/back"])
def test_a_restore_stays_out_of_the_store_that_it_reads_from(run, store, tree, tmp_path, place):
    (tmp_path / "link").symlink_to(store)
    before = picture(tmp_path)

    result = run("store", "restore", URL, "--to", place, "--overwrite", "--force")

    assert (result.code, f"is, holds or lies in {store}, the store that it reads from" in result.err) == (4, True)
    assert picture(tmp_path) == before


def test_a_part_of_a_tree_comes_back(run, tree, tmp_path):
    assert run("store", "restore", URL, "--to", "back", "--include", "*.txt").code == 0

    assert [path.name for path in (tmp_path / "back").rglob("*")] == ["text.txt"]


def test_what_is_excluded_stays_out_of_the_store(run, store, tmp_path):
    fill_tree(tmp_path / "tree")
    command = ["store", "backup", "tree", "--to", "store", "--volume", "shop", "--name", "backup-1"]

    assert run(*command, "--exclude", "deep/er", "--exclude", "*.bin").code == 0

    assert sorted(run("store", "ls", URL, "-R").out.split()) == ["deep", "link", "text.txt"]


def test_an_image_goes_into_a_store_and_comes_back_onto_an_earlier_one(run, store, tmp_path):
    fill_image(tmp_path / "disk.img")
    assert run("store", "backup", "disk.img", "--to", "store", "--volume", "disk", "--name", "backup-1").code == 0
    with (tmp_path / "disk.img").open("r+b") as file:
        file.write(b"changed")
    assert run("store", "backup", "disk.img", "--to", "store", "--volume", "disk", "--name", "backup-2").code == 0
    one, two = ("store?backup=backup-1&volume=disk", "store?backup=backup-2&volume=disk")

    assert run("store", "restore", one, "--to", "back.img").code == 0
    assert run("store", "restore", two, "--to", "back.img", "--onto", "backup-1").code == 0

    assert (tmp_path / "back.img").read_bytes() == (tmp_path / "disk.img").read_bytes()
    assert run("store", "diff", one, "backup-2").out == "M 0-2097151  (2097152 bytes)\n"


def test_the_new_backup_is_told_by_its_url_and_nothing_else_is_on_stdout(run, store, tmp_path):
    fill_tree(tmp_path / "tree")

    result = run("store", "backup", "tree", "--to", "store", "--volume", "shop", "--label", "a=b,c=d")

    assert result.out.startswith(f"file://{store}?backup=backup-")
    assert result.out.count("\n") == 1
    assert "uploading" in result.err


def test_stores_volumes_and_backups_are_listed(run, tree):
    assert run("store", "ls", "store").out == "shop\n"
    assert run("store", "ls", "store?volume=shop").out == "backup-1\n"
    assert run("store", "ls", URL).out.split() == ["deep", "link", "text.txt"]
    assert sorted(run("store", "ls", URL, "deep", "-R").out.split()) == ["deep/er", "deep/er/empty", "deep/large.bin"]
    assert "-rw-r----- " in run("store", "ls", URL, "text.txt", "-l").out


def test_backups_are_listed_also_when_the_volumes_record_is_lost(run, tree, store):
    next(store.rglob("volume.cfg")).unlink()

    assert run("store", "ls", "store?volume=shop").out == "backup-1\n"


@pytest.mark.parametrize("name", ["BACKINGIMAGE", "deleted"])
def test_a_directory_that_holds_only_locks_is_no_volume_and_stops_nobody(run, tree, store, name):
    """Longhorn keeps its locks for backing images in one, and a volume that is deleted may leave one."""
    lock = store / volume_dir(name) / "locks" / "lock-0123456789abcdef.lck"
    lock.parent.mkdir(parents=True)
    lock.write_text('{"Name":"lock-0123456789abcdef","Type":1,"Acquired":true}')

    verified = run("store", "verify", "store", "--read-data", "100")
    collected = run("store", "gc", "store")

    assert (verified.code, verified.out) == (0, "whole       shop/backup-1\n")
    assert (collected.code, collected.out) == (0, "shop: 0 blocks (0 B) removed\n")
    assert "1 volumes" in verified.err
    assert "Warning" not in collected.err
    assert run("store", "unlock", "store", "--volume", name).out.endswith("alive  kept\n")


def test_the_name_of_a_finished_backup_is_never_given_twice(run, tree, store):
    (tree / "text.txt").write_text("other")

    result = run("store", "backup", "tree", "--to", "store", "--volume", "shop", "--name", "backup-1")

    assert (result.code, result.out) == (6, "")
    assert "volume shop has a backup backup-1 already" in result.err


def test_a_backup_that_is_named_twice_is_deleted_once(run, tree):
    assert run("store", "delete", URL, URL, "--yes").out == "shop/backup-1\n"


def test_paths_are_found_by_globs(run, tree):
    assert run("store", "find", URL, "*.bin").out == "deep/large.bin\n"
    assert run("store", "find", URL, "*.nothing").code == 5


def test_two_backups_of_a_tree_are_compared(run, tree):
    (tree / "text.txt").write_text("other")
    (tree / "new").touch()
    (tree / "link").unlink()
    run("store", "backup", "tree", "--to", "store", "--volume", "shop", "--name", "backup-2")

    result = run("store", "diff", URL, "backup-2")

    assert sorted(result.out.splitlines()) == ["+ new", "- link", "M text.txt  (size, time)"]


@pytest.mark.parametrize(
    ("args", "code"),
    [
        (["ls", "ftp://nowhere/"], 4),
        (["ls", "missing-directory"], 10),
        (["ls", ""], 2),
        (["restore", "store", "--to", "x"], 2),
        (["restore", "store?backup=backup-9&volume=shop", "--to", "x"], 5),
        (["restore", "store?backup=backup-1&volume=../x", "--to", "x"], 4),
        (["restore", URL, "--to", "tree"], 4),
        (["restore", URL, "--to", "x", "--include", "*.nothing"], 5),
        (["backup", "missing", "--to", "store", "--volume", "shop"], 4),
        (["backup", "tree", "--to", "store", "--volume", "shop", "--mode", "half"], 2),
        (["backup", "tree", "--to", "store", "--volume", "shop", "--compression", "zstd"], 2),
        (["backup", "tree", "--to", "store", "--volume", "shop", "--block-size", "3"], 2),
        (["backup", "tree", "--to", "store", "--volume", "/"], 4),
        (["backup", "tree", "--to", "store", "--volume", "shop", "--name", "backup-1"], 6),
        (["backup", "tree", "--to", "store", "--volume", "shop", "--exclude", "../x"], 4),
        (["backup", "tree/text.txt", "--to", "store", "--volume", "shop", "--exclude", "x"], 4),
        (["verify", "store", "--read-data", "101"], 2),
        (["verify", "store", "--read-data", "much"], 2),
        (["verify", "store?volume=nosuch"], 5),
        (["verify", "store?volume=shop&backup=nosuch"], 5),
        (["ls", "store?volume=nosuch"], 5),
        (["gc", "store", "--volume", "nosuch"], 5),
        (["unlock", "store", "--volume", "nosuch"], 5),
        (["cat", URL, "nosuch"], 5),
        (["cat", URL, "deep"], 6),
        (["unlock", "store"], 2),
        (["delete", URL], 2),
        (["delete", "store?backup=backup-9&volume=shop", "--yes"], 5),
        (["repair-index", "store", "--volume", "nosuch"], 5),
    ],
)
def test_wrong_input_ends_with_a_sentence_and_its_own_code(run, tree, store, args, code):
    before = sorted(store.rglob("*"))

    result = run("store", *args)

    assert (result.code, result.out) == (code, ""), result.err
    assert sorted(store.rglob("*")) == before
    assert result.err.startswith("Error: ") or "Error: " in result.err
    assert "Traceback" not in result.err
    assert "bug in Tidegate" not in result.err


def test_an_image_is_no_tree_to_look_into(run, store, tmp_path):
    fill_image(tmp_path / "disk.img")
    run("store", "backup", "disk.img", "--to", "store", "--volume", "disk", "--name", "backup-1")

    result = run("store", "ls", "store?backup=backup-1&volume=disk")

    assert (result.code, "holds an image, not a file tree" in result.err) == (6, True)


def test_damage_ends_a_verification_with_one(run, tree, store):
    next(store.rglob("*.blk")).write_bytes(b"junk")

    result = run("store", "verify", "store", "--read-data", "100%")

    assert result.code == 1
    assert result.out.startswith("DAMAGED     shop/backup-1")
    assert "is damaged" in result.out


def test_a_deleted_backup_is_gone_with_its_blocks(run, tree, store):
    assert run("store", "delete", URL, "--yes").out == "shop/backup-1\n"

    assert list(store.rglob("*.blk")) == []
    assert run("store", "ls", "store?volume=shop").out == ""


def test_blocks_that_nobody_names_are_collected(run, tree, store):
    orphan = next(store.rglob("blocks")) / "ab" / "ab" / f"{'ab' * 32}.blk"
    orphan.parent.mkdir(parents=True)
    orphan.write_bytes(b"left behind")

    assert run("store", "gc", "store", "--dry-run").out == "shop: 1 blocks (11 B) would be removed\n"
    assert orphan.exists()
    assert run("store", "gc", "store", "--volume", "shop").out == "shop: 1 blocks (11 B) removed\n"
    assert not orphan.exists()


def test_a_lost_record_is_made_anew(run, tree, store, tmp_path):
    record = next(store.rglob("volume.cfg"))
    before = json.loads(record.read_text())
    record.unlink()

    assert run("store", "repair-index", "store", "--volume", "shop", "--dry-run").out == "volume.cfg is missing\n"
    assert not record.exists()
    assert run("store", "repair-index", "store", "--volume", "shop").code == 0

    after = json.loads(record.read_text())
    assert after | {"CreatedTime": ""} == before | {"CreatedTime": ""}
    assert run("store", "repair-index", "store", "--volume", "shop").err.endswith("Nothing is wrong.\n")


def test_only_dead_locks_are_removed_unless_forced(run, tree, store):
    locks = next(store.rglob("volume.cfg")).parent / "locks"
    locks.mkdir(exist_ok=True)
    for name in ("lock-dead", "lock-alive"):
        (locks / f"{name}.lck").write_text(json.dumps({"Name": name, "Type": 1, "Acquired": True}))
    os.utime(locks / "lock-dead.lck", (1, 1))

    result = run("store", "unlock", "store", "--volume", "shop")

    assert [line.split()[0] for line in result.out.splitlines()] == ["lock-dead", "lock-alive"]
    assert [path.name for path in locks.iterdir()] == ["lock-alive.lck"]
    assert run("store", "unlock", "store", "--volume", "shop", "--force", "-o", "json").json["removed"] is True
    assert list(locks.iterdir()) == []


def test_a_file_is_written_to_stdout_as_it_was(tree, tmp_path):
    command = [sys.executable, "-m", "tidegate", "store", "cat", URL, "deep/large.bin"]

    ended = subprocess.run(command, cwd=tmp_path, capture_output=True, timeout=60, check=True)

    assert ended.stdout == (tree / "deep" / "large.bin").read_bytes()


LOOKS = {
    "ls": ["store", "ls", URL],
    "find": ["store", "find", URL, "*.txt"],
    "diff": ["store", "diff", URL, "backup-2"],
    "verify": ["store", "verify", "store?volume=shop", "--read-data", "100"],
}


@pytest.fixture
def sealed(run, store, tmp_path):
    """Two encrypted backups of a tree; the variables that hold their key."""
    key = {"TIDEGATE_ENCRYPTION_KEY": "11" * 32}
    fill_tree(tmp_path / "tree")
    for name in ("backup-1", "backup-2"):
        command = ["store", "backup", "tree", "--to", "store", "--volume", "shop", "--name", name]
        assert run(*command, **key).code == 0
        (tmp_path / "tree" / "more").write_text(name)
    return key


def test_what_is_encrypted_keeps_nobody_from_verifying_the_rest_and_is_told(run, sealed, tmp_path):
    fill_image(tmp_path / "disk.img")
    run("store", "backup", "disk.img", "--to", "store", "--volume", "zz-disk", "--name", "backup-1")
    run("store", "backup", "tree", "--to", "store", "--volume", "shop", "--name", "plain")

    result = run("store", "verify", "store", "--read-data", "100")

    assert (result.code, result.out.count("whole ")) == (3, 4)
    assert "backup backup-1 of volume shop is encrypted with key" in result.err
    assert "were not read" in result.err
    next(tmp_path.glob("store/backupstore/volumes/*/*/zz-disk/blocks/*/*/*.blk")).write_bytes(b"junk")
    assert run("store", "verify", "store", "--read-data", "100").code == 1


def test_a_name_that_is_not_utf8_is_valid_json_and_says_which_bytes_it_has(run, store, tmp_path):
    (tmp_path / "tree").mkdir()
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / "tree" / name).touch()
    run("store", "backup", "tree", "--to", "store", "--volume", "shop", "--name", "backup-1")

    result = run("store", "ls", URL, "-o", "json")

    result.out.encode()  # raises if it is no UTF-8
    assert result.json["path"] == name


@pytest.mark.parametrize("command", LOOKS.values(), ids=LOOKS)
def test_an_encrypted_tree_is_looked_into_with_its_key(run, sealed, command):
    result = run(*command, **sealed)

    assert result.code == 0, result.err
    assert "text.txt" in result.out or "+ more" in result.out or "whole" in result.out


@pytest.mark.parametrize("command", [LOOKS["ls"], LOOKS["find"], LOOKS["diff"], ["store", "cat", URL, "text.txt"]])
@pytest.mark.parametrize("given", [{}, {"TIDEGATE_ENCRYPTION_KEY": "22" * 32}], ids=["no key", "another key"])
def test_an_encrypted_tree_tells_nothing_without_its_key(run, sealed, command, given):
    result = run(*command, **given)

    assert (result.code, result.out) == (12, "")
    assert "is encrypted with key" in result.err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_backup_leaves_a_clean_store(store, tmp_path, number):
    (tmp_path / "disk.img").write_bytes(os.urandom(8 * 1024 * 1024))  # at this rate two minutes' work
    command = [sys.executable, "-m", "tidegate", "store", "backup", "disk.img", "--to", "store", "--volume", "disk"]
    process = subprocess.Popen([*command, "--limit-upload", "64KiB"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    process.stderr.readline()  # it has begun

    process.send_signal(number)

    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nothing was left behind" in err
    # The volume's own record may stay: it says that there is no backup.
    assert [*store.rglob("backup_*.cfg"), *store.rglob("*.lck")] == []


def test_only_credentials_of_stores_reach_a_store(tmp_path):
    environment = Environment({"AWS_ACCESS_KEY_ID": "id", "AWS_PROFILE": "mine", "HOME": "/root"}, tmp_path)

    place = place_of(CliContext(NoClock(), environment), "s3://bucket@region/")

    assert place.access.credentials == {"AWS_ACCESS_KEY_ID": "id"}
