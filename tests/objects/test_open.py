from pathlib import Path

import pytest

from tidegate.errors import InvalidInput, StoreUnavailable
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.open import open_store


@pytest.mark.parametrize("scheme", ["file", "vfs"])
def test_a_directory_is_reached_by_both_schemes(tmp_path: Path, scheme: str) -> None:
    (tmp_path / "with space").mkdir()

    open_store(TargetAccess(url=f"{scheme}://{tmp_path}/with%20space/")).put("a", b"1")

    assert (tmp_path / "with space" / "a").read_bytes() == b"1"


@pytest.mark.parametrize("url", ["", "/srv/backups", "s4://bucket/", "file:/srv", "http://example.com/"])
def test_a_url_that_can_never_work_is_answered_with_what_does(url: str) -> None:
    with pytest.raises(InvalidInput, match="file:///path or vfs:///path"):
        open_store(TargetAccess(url=url))


@pytest.mark.parametrize("url", ["file://host/path", "vfs://relative"])
def test_a_directory_has_no_host(url: str) -> None:
    with pytest.raises(InvalidInput, match="absolute path"):
        open_store(TargetAccess(url=url))


def test_a_directory_that_is_not_there_may_come_back(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        open_store(TargetAccess(url=f"file://{tmp_path}/nothing"))
