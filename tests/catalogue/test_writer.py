"""Work that arrives together shares a commit, and what fails takes nobody else with it."""

import asyncio
import fcntl
import sqlite3
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tidegate.catalogue.schema import OPTIONS, open_catalogue
from tidegate.catalogue.writer import CatalogueWriter
from tidegate.disk.sqlite.connection import connect


@pytest.fixture
def path(tmp_path):
    return tmp_path / "catalogue.sqlite"


@pytest.fixture
def connection(path):
    connection = open_catalogue(path)
    yield connection
    connection.close()


@pytest.fixture
def writer(path, connection):
    writer = CatalogueWriter(path, connection)
    yield writer
    writer.close()


class Door:
    """Holds the writing thread until it is opened, so that work gathers behind it."""

    def __init__(self):
        self._reached = threading.Event()
        self._opened = threading.Event()

    def __call__(self, _writing):
        self._reached.set()
        self._opened.wait(timeout=30)

    async def reached(self):
        assert await asyncio.to_thread(self._reached.wait, 30)

    def open(self):
        self._opened.set()


def adds(connection, name):
    def work(_writing):
        connection.execute("INSERT INTO targets (name) VALUES (?)", (name,))

    return work


def names(path):
    with sqlite3.connect(path) as other:
        return [name for (name,) in other.execute("SELECT name FROM targets ORDER BY id")]


async def behind_a_door(writer, *works):
    """All of the works, asked for while the thread is held up; their outcomes."""
    door = Door()
    held = asyncio.ensure_future(writer.write(door))
    await door.reached()
    waiting = [asyncio.ensure_future(writer.write(work, durably=durably)) for work, durably in works]
    await asyncio.sleep(0)  # each has put its work into the row
    door.open()
    await held
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_what_arrives_while_it_commits_shares_the_next_commit(path, connection, writer):
    begun = []
    connection.set_trace_callback(lambda statement: begun.append(statement) if statement.startswith("BEGIN") else None)

    await behind_a_door(writer, *((adds(connection, f"t{number}"), False) for number in range(10)))

    assert len(begun) == 2  # the door's own, and one for all
    assert names(path) == [f"t{number}" for number in range(10)]


async def test_one_that_fails_alone_changes_nothing_and_the_others_are_written(path, connection, writer):
    def breaks(_writing):
        connection.execute("INSERT INTO targets (name) VALUES ('half')")
        raise ValueError("no")

    outcomes = await behind_a_door(
        writer, (adds(connection, "a"), False), (breaks, False), (adds(connection, "b"), False)
    )

    assert [type(outcome) for outcome in outcomes] == [type(None), ValueError, type(None)]
    assert names(path) == ["a", "b"]


async def test_what_must_be_durable_goes_first(path, connection, writer):
    await behind_a_door(
        writer,
        *((adds(connection, f"sync-{number}"), False) for number in range(30)),
        (adds(connection, "wanted-gone"), True),
    )

    assert names(path)[0] == "wanted-gone"


async def test_work_that_nobody_waits_for_any_more_is_not_begun(path, connection, writer):
    door = Door()
    held = asyncio.ensure_future(writer.write(door))
    await door.reached()
    given_up = asyncio.ensure_future(writer.write(adds(connection, "given-up")))
    await asyncio.sleep(0)
    given_up.cancel()
    await asyncio.wait([given_up])
    door.open()
    await held
    await writer.write(adds(connection, "wanted"))

    assert names(path) == ["wanted"]


def test_two_event_loops_may_write_side_by_side(path, connection, writer):
    async def write(which):
        for number in range(20):
            await writer.write(adds(connection, f"{which}-{number}"))

    with ThreadPoolExecutor(2) as loops:
        list(loops.map(lambda which: asyncio.run(write(which)), "ab"))

    assert sorted(names(path)) == sorted(f"{which}-{number}" for which in "ab" for number in range(20))


@pytest.fixture
def elsewhere(path, connection):
    """The writer of another process: it shares nothing with the first but the file."""
    own = connect(path, OPTIONS)
    writer = CatalogueWriter(path, own)
    writer.own = own
    yield writer
    writer.close()
    own.close()


async def test_a_word_of_another_process_is_written_between_two_turns_of_who_writes_all_the_time(
    path, connection, writer, elsewhere
):
    door = Door()
    held = asyncio.ensure_future(writer.write(door))
    await door.reached()
    many = [asyncio.ensure_future(writer.write(adds(connection, f"sync-{number}"))) for number in range(30)]
    await asyncio.sleep(0)
    word = asyncio.ensure_future(elsewhere.write(adds(elsewhere.own, "wanted-gone"), durably=True))
    await asyncio.to_thread(wait_until_locked, path)
    door.open()
    await asyncio.gather(held, word, *many)

    assert names(path)[0] == "wanted-gone"


def wait_until_locked(path):
    """Until a writer has the lock and keeps it."""
    with path.with_name(f"{path.name}-turn").open("rb") as turn:
        for _ in range(10_000_000):
            try:
                fcntl.flock(turn, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                return
            fcntl.flock(turn, fcntl.LOCK_UN)
    raise AssertionError("nobody came")


async def test_labels_that_another_process_let_go_get_a_new_number(path, connection, writer, elsewhere):
    def label(writing):
        numbers.append(writing.interning.label_set({"app": "shop"}))

    def let_go(writing):
        writing.interning.let_go(numbers)

    numbers = []
    await writer.write(label)
    await elsewhere.write(let_go)
    await writer.write(label)

    (members,) = connection.execute("SELECT members FROM label_sets WHERE id = ?", (numbers[1],)).fetchone()
    assert connection.execute("SELECT key FROM labels WHERE id = ?", (int(members),)).fetchone() == ("app",)


async def test_whoever_cancels_gets_on_when_the_work_is_over_or_can_never_begin(writer, connection, path):
    door = Door()
    begun = asyncio.Event()
    loop = asyncio.get_running_loop()

    def work(writing):
        loop.call_soon_threadsafe(begun.set)
        door(writing)
        adds(connection, "begun")(writing)

    first = asyncio.create_task(writer.write(work))
    await begun.wait()
    second = asyncio.create_task(writer.write(adds(connection, "waiting")))
    await asyncio.sleep(0)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    first.cancel()
    await asyncio.sleep(0)
    assert not first.done()

    door.open()
    with pytest.raises(asyncio.CancelledError):
        await first
    assert names(path) == ["begun"]
