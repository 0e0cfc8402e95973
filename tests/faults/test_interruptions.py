"""Between any two calls of one client another one may work, awake or after the first was frozen: no backup is lost."""

import asyncio
import contextlib
from datetime import timedelta

import pytest

from tidegate.errors import StoreLocked, TidegateError
from tidegate.format.cfgs.lock_file import EXPIRY
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects, ProcessDied
from tidegate.testing.stores.power_cut import LosingObjects

LETTERS = {"backup-1": "AB", "backup-2": "BC", "backup-3": "ACD", "backup-4": "AE"}
MOST_CALLS = 60


class Scene:
    """Somebody works, and somebody else in between."""

    def __init__(self, path):
        self.path = path
        self.clock = ManualClock()
        self.store = LosingObjects(self.clock)
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

    def clean_up(self, objects=None):
        """What becomes of an upload whose owner is thought dead."""
        MoverBench(objects or self.store, clock=self.clock).remove("backup-3", only_unfinished=True)


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
    "a clean-up": lambda scene, objects=None: scene.clean_up(objects),
    "another removal": lambda scene, objects=None: scene.remove("backup-2", objects),
}


def interruption(scene, work, *, frozen, happened):
    happened.append(True)
    if frozen:
        scene.pass_time(EXPIRY * 2)
    with contextlib.suppress(TidegateError):
        WORK[work](scene)


def is_last_step(calls, number):
    """Whether this call deletes a block or makes the backup."""
    method, key = calls[number]
    return (method == "delete" and "/blocks/" in key) or (method == "put" and "/backups/" in key)


@pytest.mark.parametrize("frozen", [False, True], ids=["awake", "frozen"])
@pytest.mark.parametrize(
    ("work", "meanwhile"),
    [
        ("an upload", "an upload"),
        ("an upload", "another upload"),
        ("an upload", "a removal"),
        ("an upload", "a clean-up"),
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
        # Who is frozen between its last look and the step itself is stopped by nobody: the protocol has no fence.
        if not (frozen and is_last_step(objects.calls, number)):
            assert_whole(scene.store, LETTERS, scene.done)
    pytest.fail("the work never ended")


def test_a_client_that_was_frozen_deletes_only_what_its_threads_were_about_to(new_scene):
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
    assert len(deletions(awake)) == 3
    assert len(deletions(frozen)) <= scene.store.requests_in_flight == 2


@pytest.mark.parametrize("work", ["an upload", "a removal"])
def test_a_power_cut_between_two_calls_takes_no_finished_backup(new_scene, assert_whole, work):
    for number in range(MOST_CALLS):
        scene = new_scene()
        objects = FaultyObjects(scene.store)
        objects.interrupt(before_call=number, meanwhile=lambda scene=scene, objects=objects: cut_power(scene, objects))
        with contextlib.suppress(RuntimeError):  # it died
            WORK[work](scene, objects)
        assert_whole(scene.store, LETTERS, scene.done)
        if len(objects.calls) <= number:  # the work has no more calls
            return
    pytest.fail("the work never ended")


def cut_power(scene, objects):
    scene.store.cut_power()
    objects.die()
    raise ProcessDied("the power was cut")
