"""Two uploads of one volume at once: the volume points to the later one, whoever writes last."""

import asyncio
import threading
from datetime import timedelta

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.format.cfgs.paths import volume_cfg_key
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"


class HeldBefore:
    """A store that does something before volume.cfg is written, the first time."""

    def __init__(self, inner, do):
        self._inner = inner
        self._do = do

    def __getattr__(self, name):
        return getattr(self._inner, name)

    def put(self, key, body, *, lazily=False):
        if key == volume_cfg_key(VOLUME) and self._do:
            do, self._do = self._do, None
            do()
        self._inner.put(key, body, lazily=lazily)


def bench_at(hours, objects):
    clock = ManualClock()
    asyncio.run(clock.advance(timedelta(hours=hours)))
    return MoverBench(objects, clock=clock)


@pytest.mark.parametrize(("first", "second"), [(1, 2), (2, 1)])
def test_the_volume_points_to_the_later_backup_whoever_writes_last(image, first, second):
    """One has finished and is about to point to itself; meanwhile the other does all of it; then the first goes on."""
    store, path = MemoryObjects(ManualClock()), image("AB")
    bench_at(0, store).upload(path, "backup-0")
    in_the_middle, go_on = threading.Event(), threading.Event()

    def hold():
        in_the_middle.set()
        assert go_on.wait(10)

    held = HeldBefore(store, hold)
    slow = threading.Thread(target=lambda: bench_at(second, held).upload(path, f"backup-{second}"))
    slow.start()
    assert in_the_middle.wait(10)

    def let_the_other_finish():
        go_on.set()
        slow.join(10)

    # This one has read where the volume points to; before it writes, the other one does.
    bench_at(first, HeldBefore(store, let_the_other_finish)).upload(path, f"backup-{first}")

    assert StoredVolume(store, VOLUME).volume_cfg().last_backup_name == "backup-2"


def test_who_is_alone_looks_at_no_other_backup(image):
    store, path = MemoryObjects(ManualClock()), image("AB")
    for number in range(3):
        bench_at(number, store).upload(path, f"backup-{number}")
    counting = FaultyObjects(store)

    bench_at(3, counting).upload(path, "backup-3")

    read = {key.rpartition("/")[2] for call, key in counting.calls if call == "get" and "backup_" in key}
    assert read <= {"backup_backup-2.cfg", "backup_backup-3.cfg"}
