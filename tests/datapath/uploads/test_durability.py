"""When a cfg is visible, its blocks survive a power cut."""

import pytest

from tidegate.errors import NoSpace
from tidegate.format.cfgs.backup_cfg import BackupCfg
from tidegate.format.cfgs.paths import backup_cfg_key
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

MIB = 1024 * 1024
CFG = backup_cfg_key("shop.db", "backup-1")


class PowerCut(MemoryObjects):
    """Keeps, beside what is visible, what would be left after a power cut: lazy writes count only once flushed."""

    def __init__(self) -> None:
        super().__init__(ManualClock())
        self.safe: dict[str, bytes] = {}
        self.unsafe: dict[str, bytes] = {}
        self.moments: list[dict[str, bytes]] = []

    def put(self, key, body, *, lazily=False):
        super().put(key, body)
        self._note(key, body, lazily=lazily)

    def put_if_absent(self, key, body, *, lazily=False):
        created = super().put_if_absent(key, body)
        if created:
            self._note(key, body, lazily=lazily)
        return created

    def flush(self):
        self.safe.update(self.unsafe)
        self.unsafe.clear()

    def _note(self, key, body, *, lazily):
        (self.unsafe if lazily else self.safe)[key] = body
        self.moments.append(dict(self.safe))


@pytest.fixture
def image(tmp_path):
    path = tmp_path / "image"
    path.write_bytes(b"".join(bytes([number]) * (2 * MIB) for number in range(1, 7)))
    return path


def test_at_every_moment_a_finished_cfg_names_only_blocks_that_would_survive(image):
    store = PowerCut()
    MoverBench(store).upload(image)

    finished = 0
    for left in store.moments:
        for key, body in left.items():
            if key.endswith(".cfg") and "/backups/" in key and not BackupCfg.decode(body).in_progress:
                finished += 1
                names = {block.checksum for block in BackupCfg.decode(body).blocks}
                assert names <= {other.rsplit("/", 1)[1].removesuffix(".blk") for other in left}
    assert finished > 0
    assert not any(key.endswith(".blk") for key in store.unsafe)


def test_a_store_that_cannot_promise_durability_gets_no_backup(image):
    inner = MemoryObjects(ManualClock())
    store = FaultyObjects(inner)
    store.fail("flush", NoSpace("the disk is full"))

    with pytest.raises(NoSpace):
        MoverBench(store).upload(image)

    assert CFG not in {info.key for info in inner.list_all("")}
