"""Limits that `tidegate store` is given: how fast, and from what."""

import pytest

from tidegate.testing.sample_data import fill_image

BACKUP = ("store", "backup", "disk.img", "--to", "store", "--volume", "disk", "--name", "backup-1")
RESTORE = ("store", "restore", "store?backup=backup-1&volume=disk", "--to", "back.img")


@pytest.fixture
def disk(tmp_path):
    (tmp_path / "store").mkdir()
    return fill_image(tmp_path / "disk.img")


def test_a_limited_backup_and_restore_bring_the_same_bytes_back(run, disk, tmp_path):
    assert run(*BACKUP, "--limit-upload", "1G", "--limit-download", "1GiB/s").code == 0
    assert run(*RESTORE, "--limit-download", "500MiB").code == 0

    assert (tmp_path / "back.img").read_bytes() == disk.read_bytes()


@pytest.mark.usefixtures("disk")
@pytest.mark.parametrize(
    ("limit", "sentence"),
    [
        ("fast", "--limit-upload: 'fast' is no amount of bytes; write for example 10MiB, 500K or 1.5G."),
        ("10", "--limit-upload: 10 is too slow to get anywhere; the least is 64KiB per second, and 0 is no limit."),
    ],
)
def test_a_limit_that_is_none_is_refused_before_anything_is_read(run, limit, sentence):
    result = run(*BACKUP, "--limit-upload", limit)

    assert (result.code, sentence in result.err) == (2, True)
