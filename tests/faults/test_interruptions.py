"""Between any two calls of one client another one may work, awake or after the first was frozen: no backup is lost."""

import asyncio
import contextlib
from datetime import timedelta

import pytest

from tidegate.errors import StoreLocked, TidegateError
from tidegate.format.lock_file import EXPIRY
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.faulty_objects import FaultyObjects
from tidegate.testing.mover_bench import MoverBench

LETTERS = {"backup-1": "AB", "backup-2": "BC", "backup-3": "ACD", "backup-4": "AE"}
MOST_CALLS = 60


class Scene:
    """Somebody works, and somebody else in between."""

    def __init__(self, path):
        self.path = path
        self.clock = ManualClock()
        self.store = MemoryObjects(self.clock)
        self.done = set()

    def pass_time(self, delay):
        asyncio.run(self.clock.advance(delay))

    def upload(self, name, objects=None):
        self.pass_time(timedelta(seconds=1))
        MoverBench(objects or self.store, clock=self.clock).upload(self.path / name, name)
        self.done.add(name)

    def remove(self, name, objects=None):
        self.done.discard(name)
        MoverBench(objects or self.store, clock=self.clock).remove(name)


@pytest.fixture
def new_scene(tmp_path, blocks_of):
    """A function: backup-1 and backup-2 are there and share a block; the other two use blocks of the first."""
    for name, letters in LETTERS.items():
        (tmp_path / name).write_bytes(b"".join(blocks_of(letters).values()))
    first = Scene(tmp_path)
    for name in ("backup-1", "backup-2"):
        first.upload(name)
    kept = {info.key: first.store.get(info.key, at_most=10**7) for info in first.store.list_all("")}

    def make():
        scene = Scene(tmp_path)
        for key, body in kept.items():
            scene.store.put(key, body)
        scene.done = {"backup-1", "backup-2"}
        return scene

    return make


WORK = {
    "an upload": lambda scene, objects=None: scene.upload("backup-3", objects),
    "another upload": lambda scene, objects=None: scene.upload("backup-4", objects),
    "a removal": lambda scene, objects=None: scene.remove("backup-1", objects),
    "another removal": lambda scene, objects=None: scene.remove("backup-2", objects),
}


def interruption(scene, work, *, frozen, happened):
    happened.append(True)
    if frozen:
        scene.pass_time(EXPIRY * 2)
    with contextlib.suppress(TidegateError):
        WORK[work](scene)


@pytest.mark.parametrize("frozen", [False, True], ids=["awake", "frozen"])
@pytest.mark.parametrize(
    ("work", "meanwhile"),
    [
        ("an upload", "an upload"),
        ("an upload", "another upload"),
        ("an upload", "a removal"),
        ("a removal", "an upload"),
        ("a removal", "another removal"),
    ],
)
def test_who_works_between_two_calls_of_another_client_takes_nothing_and_loses_nothing(
    new_scene, assert_whole, work, meanwhile, frozen
):
    for number in range(MOST_CALLS):
        scene, happened = new_scene(), []
        objects = FaultyObjects(scene.store)
        objects.interrupt(
            before_call=number,
            meanwhile=lambda scene=scene, happened=happened: interruption(
                scene, meanwhile, frozen=frozen, happened=happened
            ),
        )
        with contextlib.suppress(TidegateError):
            WORK[work](scene, objects)
        if not happened:  # the work has no more calls
            return
        # Who is frozen between its last look and the deletion itself is stopped by nobody: the protocol has no fence.
        if not (frozen and objects.calls[number][0] == "delete" and "/blocks/" in objects.calls[number][1]):
            assert_whole(scene.store, LETTERS, scene.done)
    pytest.fail("the work never ended")


def test_a_client_that_was_frozen_deletes_at_most_the_one_block_that_it_was_about_to(new_scene):
    def remove_all(objects, scene):
        MoverBench(objects, clock=scene.clock).remove("backup-1", "backup-2")

    def deletions(objects):
        return [n for n, (method, key) in enumerate(objects.calls) if method == "delete" and "/blocks/" in key]

    scene = new_scene()
    awake = FaultyObjects(scene.store)
    remove_all(awake, scene)
    scene = new_scene()
    frozen = FaultyObjects(scene.store)
    frozen.interrupt(before_call=deletions(awake)[0], meanwhile=lambda: scene.pass_time(EXPIRY * 2))

    with pytest.raises(StoreLocked):
        remove_all(frozen, scene)
    assert (len(deletions(awake)), len(deletions(frozen))) == (3, 1)
