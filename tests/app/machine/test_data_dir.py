"""The server's own directory: nobody else looks into it, and nothing is restored over it."""

import os
import stat

import pytest

from tidegate.access.accounts import SqliteAccounts
from tidegate.app.machine.clock import SystemClock
from tidegate.app.machine.data_dir import DataDir
from tidegate.app.machine.identity import new_id
from tidegate.app.machine.volume_probe import LocalVolumeProbe
from tidegate.catalogue.database import SqliteCatalogue
from tidegate.model.volumes.volume_ref import Directory
from tidegate.resources.sqlite import SqliteStore

DATABASES = ("tidegate.db", "catalogue.sqlite", "access.sqlite")


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def open_umask():
    """As careless as can be."""
    before = os.umask(0)
    yield
    os.umask(before)


async def test_databases_and_what_sqlite_puts_beside_them_are_for_their_owner_only(tmp_path, open_umask):
    data_dir = DataDir(tmp_path / "state")
    data_dir.take()
    store = await SqliteStore.open(data_dir.database, clock=SystemClock(), new_id=new_id)
    catalogue, accounts = SqliteCatalogue.open(data_dir.catalogue), SqliteAccounts.open(data_dir.access)
    data_dir.token()

    modes = {path.name: mode(path) for path in data_dir.path.iterdir()}
    accounts.close()
    catalogue.close()
    await store.close()
    data_dir.release()

    assert mode(data_dir.path) == 0o700
    assert {name: hex(found) for name, found in modes.items() if found != 0o600} == {}
    assert {f"{name}{end}" for name in DATABASES for end in ("", "-wal", "-shm")} <= modes.keys()


def test_a_start_takes_the_rights_of_others_from_a_directory_that_was_there(tmp_path, open_umask):
    state = tmp_path / "state"
    state.mkdir(mode=0o755)
    (state / "maps").mkdir(mode=0o755)
    for name in (*DATABASES, "tidegate.db-wal", "tidegate.db-shm", "admin.token"):
        (state / name).write_text("x")
    data_dir = DataDir(state)

    data_dir.take()
    data_dir.release()

    assert mode(state) == mode(state / "maps") == 0o700
    assert {mode(path) for path in state.iterdir() if path.is_file()} == {0o600}


def test_a_link_in_the_place_of_a_file_leads_to_no_change_elsewhere(tmp_path, open_umask):
    state, other = tmp_path / "state", tmp_path / "other"
    state.mkdir()
    other.write_text("somebody's")
    (state / "catalogue.sqlite").symlink_to(other)
    data_dir = DataDir(state)

    data_dir.take()
    data_dir.release()

    assert mode(other) == 0o666


@pytest.fixture
def state(tmp_path):
    (tmp_path / "machine" / "state" / "secrets").mkdir(parents=True)
    (tmp_path / "machine" / "beside").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "machine" / "state")
    (tmp_path / "machine" / "beside" / "in").symlink_to(tmp_path / "machine" / "state" / "secrets")
    return tmp_path / "machine" / "state"


@pytest.mark.parametrize(
    "place",
    [
        "machine/state",
        "machine/state/secrets",
        "machine/state/new/files",
        "machine",
        "link",
        "link/new",
        "machine/beside/in",
        "machine/beside/../state/x",
        "machine/beside/in/../new",
    ],
)
async def test_nothing_is_restored_over_or_into_the_data_directory(tmp_path, state, place):
    found = await LocalVolumeProbe(own=state).look_at(Directory(str(tmp_path / place)))

    assert found.in_the_way.endswith(f"{state}, the data directory of this server")


@pytest.mark.parametrize("place", ["machine/beside", "machine/state2", "machine/new/files"])
async def test_beside_it_is_fine(tmp_path, state, place):
    assert (await LocalVolumeProbe(own=state).look_at(Directory(str(tmp_path / place)))).in_the_way == ""
