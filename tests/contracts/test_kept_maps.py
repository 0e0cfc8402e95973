"""Every implementation of KeptMaps keeps the same promise."""

import pytest

from tidegate.ports.kept_maps import KeptMap, KeptMaps
from tidegate.volumes.kept_maps import DirectoryKeptMaps

FIRST = KeptMap("backup-1", "2026-01-01T00:00:00Z", "proof-1")
SECOND = KeptMap("backup-2", "2026-01-02T00:00:00Z", "proof-2")


IMPLEMENTATIONS: dict[type[KeptMaps], object] = {DirectoryKeptMaps: lambda path: DirectoryKeptMaps(str(path))}


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def open_maps(request):
    return IMPLEMENTATIONS[request.param]


@pytest.fixture
def maps(open_maps, tmp_path):
    return open_maps(tmp_path / "maps")


def test_the_last_map_of_a_volume_is_found(maps):
    assert maps.find("store", "shop.db") is None

    maps.keep("store", "shop.db", FIRST)
    maps.keep("store", "shop.db", SECOND)

    assert maps.find("store", "shop.db") == SECOND


def test_each_volume_of_each_store_has_its_own(maps):
    maps.keep("store", "shop.db", FIRST)
    maps.keep("other", "shop.db", SECOND)

    assert maps.find("store", "shop.db") == FIRST
    assert (maps.find("store", "shop.web"), maps.find("store/shop", ".db")) == (None, None)


def test_any_name_of_a_store_or_volume_will_do(maps):
    for name in ("../../escape", "a/b", "é" * 300, ""):
        maps.keep(name, name, FIRST)

        assert maps.find(name, name) == FIRST


def test_where_nothing_can_be_kept_nothing_is_found_and_nothing_raised(open_maps, tmp_path):
    (tmp_path / "file").write_text("in the way")
    maps = open_maps(tmp_path / "file")

    maps.keep("store", "shop.db", FIRST)

    assert maps.find("store", "shop.db") is None


def test_a_map_that_is_no_longer_whole_is_not_found(open_maps, tmp_path):
    maps = open_maps(tmp_path / "maps")
    maps.keep("store", "shop.db", FIRST)
    for file in (tmp_path / "maps").iterdir():
        file.write_bytes(file.read_bytes()[:-10])

    assert maps.find("store", "shop.db") is None
