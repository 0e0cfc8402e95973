"""The file itself: begun anew when it cannot be used, and wishes to delete that last."""

import asyncio
import contextlib
import json
import os
import sqlite3

import pytest

from tidegate.catalogue.database import SqliteCatalogue
from tidegate.errors import CatalogueDamaged, NotFound
from tidegate.format.cfgs.paths import backup_cfg_key
from tidegate.model.stores.catalogue import CatalogueFilter, FullSync


def another_version(path):
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()


def damage(path):
    body = bytearray(path.read_bytes())
    body[100:2000] = b"\xff" * 1900
    path.write_bytes(bytes(body))


@pytest.mark.parametrize(
    "spoil",
    [another_version, damage, lambda path: path.write_bytes(b"not a database at all"), lambda path: path.unlink()],
)
async def test_a_file_that_cannot_be_used_is_begun_anew_and_filled_by_the_next_sync(far, spoil):
    far.put("vol-a", "backup-1")
    await far.sync()
    far.catalogue.close()
    spoil(far.path)

    far.catalogue = SqliteCatalogue.open(far.path)
    assert await far.names() == []
    await far.sync()

    assert await far.names() == ["backup-1"]


async def test_another_version_keeps_the_wishes_to_delete(far):
    await far.catalogue.hide("far", "vol-a", "backup-1")
    far.catalogue.close()
    another_version(far.path)

    far.catalogue = SqliteCatalogue.open(far.path)

    assert await far.catalogue.hidden("far") == [("vol-a", "backup-1")]


async def test_what_is_wanted_gone_is_in_no_list_also_after_a_restart_and_a_sync(far):
    far.put("vol-a", "backup-1", "backup-2")
    far.put("vol-b", "backup-3")
    await far.sync()

    await far.catalogue.hide("far", "vol-a", "backup-1")
    await far.catalogue.hide("far", "vol-b")
    far.catalogue.close()
    far.catalogue = SqliteCatalogue.open(far.path)
    await far.sync(forced=True)

    assert await far.names() == ["backup-2"]
    assert await far.volumes() == ["vol-a"]
    for wanted in (CatalogueFilter(), CatalogueFilter(target="far"), CatalogueFilter(search="vol")):
        counts = await far.catalogue.counts(wanted)
        assert (counts.volumes, counts.backups) == (1, 1), wanted
    with pytest.raises(NotFound):
        await far.catalogue.backup("far", "vol-a", "backup-1")

    await far.catalogue.unhide("far", "vol-a", "backup-1")
    await far.catalogue.unhide("far", "vol-b")
    assert sorted(await far.names()) == ["backup-1", "backup-2", "backup-3"]
    counts = await far.catalogue.counts(CatalogueFilter(target="far"))
    assert (counts.volumes, counts.backups) == (2, 3)


async def test_a_wish_counts_for_what_is_found_later(far):
    await far.catalogue.hide("far", "vol-a", "backup-1")
    far.put("vol-a", "backup-1", "backup-2")

    await far.sync()

    assert await far.names() == ["backup-2"]


async def test_labels_that_nobody_has_any_more_take_no_room(far):
    far.put("vol-a", "backup-1", labels={"only": "here"})
    far.put("vol-b", "backup-2", "backup-3")
    far.put("vol-c", "backup-4")
    await far.sync()
    far.delete_volume("vol-a")

    await far.sync()

    connection = sqlite3.connect(far.path)
    assert connection.execute("SELECT count(*) FROM labels").fetchone() == (0,)
    assert connection.execute("SELECT count(*) FROM label_members").fetchone() == (0,)
    connection.close()


async def test_a_log_that_a_reader_made_long_is_short_again_as_soon_as_the_reader_is_gone(far, tmp_path):
    far.put("vol-a", *(f"backup-{number}" for number in range(50)))
    path, log = tmp_path / "short.sqlite", tmp_path / "short.sqlite-wal"
    far.catalogue = SqliteCatalogue.open(path, longest_log=10_000)
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM backups").fetchone()

    await far.sync()  # whoever reads for long holds up nobody
    assert log.stat().st_size > 10_000
    reader.close()
    await far.catalogue.hide("far", "vol-a", "backup-1")

    assert log.stat().st_size == 0


async def test_the_newest_complete_backup_of_many_volumes_is_found_in_one_look(far):
    for name in ("db", "web", "old"):
        far.put(name, "backup-1", "backup-2", labels={"KubernetesStatus": json.dumps({"namespace": name})})
    far.put("db", "backup-3")
    far.store.put(backup_cfg_key("web", "backup-9"), b"{broken")
    await far.sync()
    await far.catalogue.hide("far", "db", "backup-3")

    found = await far.catalogue.newest_backups(["far"], ["db", "web", "nobody"])

    assert {name: backup.record.name for name, backup in found.items()} == {"db": "backup-2", "web": "backup-2"}
    assert await far.catalogue.newest_backups(["elsewhere"], ["db"]) == {}
    assert await far.catalogue.newest_backups(["far"], []) == {}


async def test_a_full_sync_is_known_until_its_target_is_forgotten(far):
    noted = FullSync("file:///far", far.clock.now())
    await far.catalogue.note_full_sync("far", noted)
    assert await far.catalogue.full_syncs() == {"far": noted}

    await far.catalogue.forget_target("far")
    assert await far.catalogue.full_syncs() == {}


def junk(path):
    """In place: whoever has it open goes on reading the same file."""
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.write(b"\xff" * size)
    path.with_name(f"{path.name}-wal").write_bytes(b"")


async def test_a_file_that_is_junked_under_a_running_server_is_made_anew_without_an_error(far):
    far.put("vol-a", "backup-1")
    await far.sync()
    await far.catalogue.note_full_sync("far", FullSync("file:///far", far.clock.now()))
    connection = sqlite3.connect(far.path)
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    junk(far.path)

    looks = [far.catalogue.full_syncs(), far.catalogue.full_syncs(), far.names(), far.volumes()]
    assert await asyncio.gather(*looks) == [{}, {}, [], []]
    assert far.catalogue.renewals == 1
    await far.sync()
    assert await far.names() == ["backup-1"]
    assert far.path.with_name("catalogue.sqlite.unusable").exists()


async def test_a_write_that_meets_the_damage_is_done_in_the_new_file(far):
    far.put("vol-a", "backup-1")
    await far.sync()
    with sqlite3.connect(far.path) as connection:
        connection.execute("DROP TABLE full_syncs")
    connection.close()

    await far.catalogue.note_full_sync("far", FullSync("file:///far", far.clock.now()))
    assert (far.catalogue.renewals, set(await far.catalogue.full_syncs())) == (1, {"far"})


@pytest.mark.parametrize("deed", ["delete", "replace"])
async def test_a_file_that_is_deleted_or_replaced_under_a_running_server_is_made_anew(far, deed):
    far.put("vol-a", "backup-1")
    await far.sync()
    far.catalogue.look_at_file()
    assert far.catalogue.renewals == 0
    if deed == "replace":
        far.path.with_name("other").write_bytes(b"other")
        far.path.with_name("other").replace(far.path)
    else:
        far.path.unlink()

    far.catalogue.look_at_file()
    far.catalogue.look_at_file()

    assert (far.catalogue.renewals, await far.names()) == (1, [])
    await far.sync()
    assert await far.names() == ["backup-1"]


async def test_who_only_joined_the_file_leaves_it_alone_and_says_that_it_is_damaged(far):
    far.put("vol-a", "backup-1")
    await far.sync()
    other = SqliteCatalogue.join(far.path)
    with sqlite3.connect(far.path) as connection:
        connection.execute("DROP TABLE full_syncs")
    connection.close()

    with pytest.raises(CatalogueDamaged, match="no such table"):
        await other.full_syncs()
    other.close()
    assert (far.catalogue.renewals, await far.names()) == (0, ["backup-1"])


async def test_a_file_that_cannot_be_made_anew_yet_is_made_later_and_no_other_file_is_closed_meanwhile(tmp_path):
    place, aside = tmp_path / "state", tmp_path / "aside"
    place.mkdir()
    catalogue = SqliteCatalogue.open(place / "catalogue.sqlite")
    place.rename(aside)

    with pytest.raises(CatalogueDamaged):
        catalogue.look_at_file()
    with contextlib.ExitStack() as others:  # they get the numbers that became free
        files = [others.enter_context((aside / f"other-{number}").open("w")) for number in range(20)]
        for _ in range(2):
            with pytest.raises(CatalogueDamaged):
                catalogue.look_at_file()
        assert all(os.fstat(file.fileno()) for file in files)

    aside.rename(place)
    (place / "catalogue.sqlite").unlink()
    catalogue.look_at_file()
    assert await catalogue.full_syncs() == {}
    catalogue.close()
