"""Wrong input on the command line: one clear sentence, the documented exit code, nothing changed."""

import subprocess
from random import Random

import pytest

from tidegate.testing.sample_data import fill_tree


@pytest.fixture
def prepared(server, tmp_path):
    (tmp_path / "store").mkdir()
    fill_tree(tmp_path / "docs")
    server.tidegate("target", "create", "disk", str(tmp_path / "store"))
    server.tidegate("volume", "create", "docs", "-n", "home", "--directory", str(tmp_path / "docs"))
    # A target's first sync writes to its record: it must not do so while a test compares before and after.
    server.tidegate("target", "sync", "disk", "--wait", "--timeout", "1m")
    return server


# words, exit code, what standard error says; {root} is the test's directory.
REFUSED = [
    ("volume create Bad -n home --directory {root}/docs", 4, "'Bad' is not a name"),
    ("volume create x -n Bad --directory {root}/docs", 4, "'Bad' is not a namespace name"),
    ("volume create x -n home --directory {root}/missing", 4, "does not exist"),
    ("volume create x -n home --image {root}/docs", 4, "is not a regular file"),
    ("volume create x -n home --device {root}/docs/text.txt", 4, "is not a block device"),
    ("volume create x -n home", 2, "--directory"),
    ("volume create x -n home --directory {root}/\udcff", 4, "is not text"),
    ("volume create docs -n home --directory {root}/docs", 6, "already exists"),
    ("target create t {root}/missing", 10, "missing"),
    ("target create t ftp://host/path", 4, "ftp"),
    ("backup create b --storage-location nowhere", 5, "there is no backup target nowhere"),
    ("backup create b --include-namespaces a**", 4, "'**'"),
    ("backup create b --ttl 5", 4, "not a duration"),
    ("backup create b --include-namespaces hmoe --wait", 4, "did you mean home?"),
    ("backup create b --selector app=x", 4, "--allow-empty"),
    ("schedule create s --schedule @daily --include-namespaces hmoe", 4, "did you mean home?"),
    ("backup describe nothing", 5, "nothing"),
    ("backup delete nothing --yes", 5, "nothing"),
    ("backup delete docs", 2, "--yes"),
    ("restore create --from-backup nothing", 5, "nothing"),
    ("setting set concurrent-backups none", 4, "whole number"),
    ("setting set concurrent-backup 1", 5, "there is no setting concurrent-backup"),
    ("target delete disk", 2, "--yes"),
    ("backup gte", 2, "gte"),
    ("backup get -o xml", 2, "xml"),
]


def test_each_mistake_gets_one_sentence_its_exit_code_and_changes_nothing(prepared, tmp_path):
    before = [prepared.get(noun, "get") for noun in ("volume", "target", "backup", "restore", "setting", "namespace")]

    for words, code, says in REFUSED:
        refused = prepared.run(*words.format(root=tmp_path).split())
        assert (refused.returncode, refused.stdout) == (code, ""), (words, refused)
        assert says in refused.stderr, (words, refused.stderr)
        assert "Traceback" not in refused.stderr, words

    after = [prepared.get(noun, "get") for noun in ("volume", "target", "backup", "restore", "setting", "namespace")]
    assert after == before


def test_a_link_that_leads_nowhere_good_comes_back_as_a_link(prepared, tmp_path):
    (tmp_path / "docs" / "odd").symlink_to("/proc/self/mem")
    (tmp_path / "docs" / "gone").symlink_to("nowhere")

    prepared.tidegate("backup", "create", "b", "--wait")
    prepared.tidegate("restore", "create", "--from-backup", "b", "--to", str(tmp_path / "back"), "--wait")

    restored = tmp_path / "back" / "home" / "docs"
    assert [str((restored / name).readlink()) for name in ("odd", "gone")] == ["/proc/self/mem", "nowhere"]


def test_a_name_in_vain_beside_a_good_one_is_a_warning_for_backups_and_schedules(prepared):
    typo = "Warning: no volume is in namespace hmoe (did you mean home?)."
    wanted = ("--include-namespaces", "home,hmoe")

    for words in (
        ("backup", "create", "b", *wanted),
        ("schedule", "create", "s", "--schedule", "@yearly", *wanted),
        ("schedule", "update", "s", "--ttl", "9d"),
        ("schedule", "resume", "s"),
        ("schedule", "create", "t", "--schedule", "@yearly", "--include-namespaces", "hmoe", "--allow-empty"),
    ):
        made = prepared.run(*words)
        assert (made.returncode, typo in made.stderr) == (0, True), made
    described = prepared.tidegate("schedule", "describe", "t")
    assert "did you mean home?" in described
    assert "May be empty:" in described
    slip = prepared.run("backup", "create", "c", "--exclude-namespaces", "hmoe", "--dry-run")
    assert "no namespace hmoe can be left out (did you mean home?)" in slip.stderr


def test_a_backup_that_becomes_empty_while_it_waits_ends_with_exit_code_three(prepared):
    prepared.tidegate("queue", "pause")
    for name, more in (("slip", []), ("may-be", ["--allow-empty"])):
        prepared.tidegate("backup", "create", name, *more)
    prepared.tidegate("volume", "delete", "home/docs", "--yes")
    prepared.tidegate("queue", "resume")

    slip, may_be = [prepared.run("backup", "wait", name, "--timeout", "60s") for name in ("slip", "may-be")]

    assert (slip.returncode, "NothingMatched" in slip.stderr) == (3, True), slip
    assert (may_be.returncode, "nothing matched, as allowed; it holds nothing" in may_be.stderr) == (0, True), may_be
    assert "everything is backed up" not in prepared.tidegate("backup", "describe", "slip")
    for name in ("slip", "may-be"):
        refused = prepared.run("restore", "create", "--from-backup", name)
        assert (refused.returncode, f"backup {name} holds nothing" in refused.stderr) == (6, True), refused


def test_a_source_that_vanished_fails_the_backup_and_says_so(prepared, tmp_path):
    (tmp_path / "docs").rename(tmp_path / "moved")

    failed = prepared.run("backup", "create", "b", "--wait")

    assert failed.returncode == 1
    assert "does not exist" in prepared.tidegate("backup", "describe", "b")


@pytest.fixture
def full_disk(tmp_path):
    """A file system of two megabytes."""
    place = tmp_path / "tiny"
    place.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", place], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        pytest.skip("needs the right to mount a small file system")
    yield place
    subprocess.run(["umount", "--lazy", place], check=True)


def test_a_full_disk_fails_the_backup_with_a_sentence_and_leaves_no_half_backup(server, tmp_path, full_disk):
    (tmp_path / "noise").mkdir()
    (tmp_path / "noise" / "file").write_bytes(Random(1).randbytes(6 * 1024 * 1024))
    server.tidegate("target", "create", "tiny", str(full_disk))
    server.tidegate("volume", "create", "noise", "-n", "home", "--directory", str(tmp_path / "noise"))

    failed = server.run("backup", "create", "b", "--wait")

    assert failed.returncode == 1
    assert "no space" in server.tidegate("backup", "describe", "b").lower()
    assert list(full_disk.rglob("backup_*.cfg")) == []
