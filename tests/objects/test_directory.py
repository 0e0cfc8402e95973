"""What only a directory store can get wrong."""

import errno
import stat
from pathlib import Path

import pytest

from tidegate.errors import InvalidInput, NoSpace, StoreUnavailable, Unauthenticated
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.directory_errors import translated


def test_a_root_that_does_not_exist_is_a_store_that_is_away(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="is it mounted"):
        DirectoryObjects(str(tmp_path / "mnt"))


def test_a_root_that_vanishes_never_looks_like_an_empty_store(tmp_path: Path) -> None:
    root = tmp_path / "mnt"
    root.mkdir()
    store = DirectoryObjects(str(root))
    root.rmdir()

    for look in (
        lambda: store.get("a", at_most=1),
        lambda: store.head("a"),
        lambda: store.list_level("backupstore"),
        lambda: store.list_level(""),
        lambda: list(store.list_all("backupstore")),
        lambda: store.delete("a"),
        lambda: store.put("a", b""),
    ):
        with pytest.raises(StoreUnavailable):
            look()


def test_a_root_that_was_replaced_is_noticed(tmp_path: Path) -> None:
    root = tmp_path / "mnt"
    root.mkdir()
    store = DirectoryObjects(str(root))
    root.rename(tmp_path / "old")
    root.mkdir()

    with pytest.raises(StoreUnavailable, match="is not the directory that it was"):
        store.list_level("")
    with pytest.raises(StoreUnavailable, match="is not the directory that it was"):
        store.put("a", b"")


@pytest.mark.parametrize("key", ["../a", "a/../../b", "/etc/passwd", "a//b", "a/./b", "", "a\0b"])
def test_no_key_leads_out_of_the_root(tmp_path: Path, key: str) -> None:
    store = DirectoryObjects(str(tmp_path))

    with pytest.raises(InvalidInput):
        store.get(key, at_most=10)
    with pytest.raises(InvalidInput):
        store.put(key, b"")


def test_links_inside_a_store_are_refused_instead_of_followed_or_overlooked(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "store", tmp_path / "elsewhere"
    root.mkdir()
    elsewhere.mkdir()
    (elsewhere / "secret").write_bytes(b"secret")
    (root / "dir").symlink_to(elsewhere)
    (root / "file").symlink_to(elsewhere / "secret")
    store = DirectoryObjects(str(root))

    for key in ("dir/secret", "file"):
        with pytest.raises(StoreUnavailable):
            store.get(key, at_most=10)
    with pytest.raises(StoreUnavailable):
        store.list_level("")
    with pytest.raises(StoreUnavailable):
        store.put("dir/new", b"")
    assert [path.name for path in elsewhere.iterdir()] == ["secret"]


def test_files_and_directories_have_the_modes_that_longhorn_gives_them(tmp_path: Path) -> None:
    DirectoryObjects(str(tmp_path)).put("a/b", b"")

    modes = [stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "a/b")]
    assert modes == [0o700, 0o644]


def test_temporary_files_of_the_dead_are_no_objects_and_none_are_left_behind(tmp_path: Path) -> None:
    store = DirectoryObjects(str(tmp_path))
    store.put("a/b", b"")
    store.put_if_absent("a/c", b"")
    store.put_if_absent("a/c", b"")
    assert sorted(path.name for path in (tmp_path / "a").iterdir()) == ["b", "c"]

    (tmp_path / "a" / "d.tmp.1763245678").write_bytes(b"half")

    assert [info.key for info in store.list_level("a").objects] == ["a/b", "a/c"]


def test_what_a_writer_left_unfinished_is_known_once_it_was_met_and_can_be_removed(tmp_path: Path) -> None:
    store = DirectoryObjects(str(tmp_path))
    store.put("a/b", b"")
    (tmp_path / "a" / "b.tmp.0123456789abcdef").write_bytes(b"half")

    assert store.unfinished("a") == []
    assert [info.key for info in store.list_all("")] == ["a/b"]
    assert store.unfinished("a") == ["a/b.tmp.0123456789abcdef"]
    assert store.unfinished("other") == []
    store.delete("a/b.tmp.0123456789abcdef")
    assert [path.name for path in (tmp_path / "a").iterdir()] == ["b"]


@pytest.mark.parametrize(
    "name", ["backup_x.tmp.cfg", "backup_x.tmp.1.cfg", "x.tmp", "x.tmp.12345", "x.tmp.0123456789ABCDEF"]
)
def test_an_object_whose_name_only_resembles_a_temporary_one_is_not_hidden(tmp_path: Path, name: str) -> None:
    store = DirectoryObjects(str(tmp_path))
    store.put(f"a/{name}", b"")

    assert [info.key for info in store.list_level("a").objects] == [f"a/{name}"]
    assert store.unfinished("a") == []


@pytest.mark.parametrize(
    ("number", "expected"),
    [
        (errno.ENOSPC, NoSpace),
        (errno.EDQUOT, NoSpace),
        (errno.EACCES, Unauthenticated),
        (errno.EROFS, Unauthenticated),
        (errno.EIO, StoreUnavailable),
        (errno.ESTALE, StoreUnavailable),
    ],
)
def test_errors_of_the_system_say_who_must_act_and_name_the_path(number: int, expected: type[Exception]) -> None:
    with pytest.raises(expected, match="/mnt/nas/a"), translated("/mnt/nas/a", "write"):
        raise OSError(number, "because")
