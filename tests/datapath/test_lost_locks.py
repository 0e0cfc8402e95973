"""Who lost the volume's lock makes no backup and deletes nothing, not even when cleaning up."""

import contextlib
import threading

import pytest

from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DamagedMetadata, StoreLocked, StoreUnavailable
from tidegate.format.cfgs.paths import backup_cfg_key, locks_dir
from tidegate.testing.mover_bench import MoverBench
from tidegate.testing.stores.faulty_objects import FaultyObjects

VOLUME = "shop.db"
CFG = backup_cfg_key(VOLUME, "backup-1")


class OvertakenObjects(FaultyObjects):
    """Before its first call for a block, somebody clears the locks away and does something else."""

    def __init__(self, inner, method, meanwhile):
        super().__init__(inner)
        self._method, self._meanwhile = method, meanwhile
        self._happening = threading.Lock()

    def _enter(self, method, key, *, writes=False):
        super()._enter(method, key, writes=writes)
        if method != self._method or "/blocks" not in key:
            return
        with self._happening:  # the others wait until it is over
            meanwhile, self._meanwhile = self._meanwhile, None
            if meanwhile:
                for info in list(self._inner.list_all(locks_dir(VOLUME))):
                    self._inner.delete(info.key)
                meanwhile()


def test_an_upload_that_lost_its_lock_makes_no_backup(store, clock, image):
    overtaken = OvertakenObjects(store, "put_if_absent", lambda: None)

    with pytest.raises(StoreLocked, match="was lost"):
        MoverBench(overtaken, clock=clock).upload(image("AB"))
    assert StoredVolume(store, VOLUME).backup_cfg("backup-1").in_progress


def test_an_upload_that_was_overtaken_by_its_repetition_leaves_what_that_finished(store, clock, image, tmp_path):
    content = image("AB").read_bytes()
    again = MoverBench(store, clock=clock)
    overtaken = OvertakenObjects(store, "put_if_absent", lambda: again.upload(tmp_path / "image"))

    with pytest.raises(StoreLocked):
        MoverBench(overtaken, clock=clock).upload(tmp_path / "image")
    again.download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == content


def test_a_removal_that_lost_its_lock_deletes_no_block(store, clock, image, tmp_path):
    bench = MoverBench(store, clock=clock)
    bench.upload(image("AB"), "backup-1")
    image("ABC", "other")
    overtaken = OvertakenObjects(store, "list_all", lambda: bench.upload(tmp_path / "other", "backup-2"))

    with contextlib.suppress(StoreLocked, StoreUnavailable):
        MoverBench(overtaken, clock=clock).remove("backup-1")
    bench.download(tmp_path / "back", "backup-2")

    assert (tmp_path / "back").read_bytes() == (tmp_path / "other").read_bytes()


def test_a_backup_of_which_only_the_answer_was_lost_is_not_taken_back(store, clock, image, tmp_path):
    class LosesAnswer(FaultyObjects):
        def put(self, key, body, *, lazily=False):
            super().put(key, body, lazily=lazily)
            if key == CFG and b'"Blocks"' in body:
                raise StoreUnavailable("no answer")

    with pytest.raises(StoreUnavailable):
        MoverBench(LosesAnswer(store), clock=clock).upload(image("AB"))
    bench = MoverBench(store, clock=clock)
    bench.upload(image("AB"))
    bench.download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == image("AB").read_bytes()


def test_a_finished_backup_that_was_read_badly_is_not_begun_anew(store, clock, image, tmp_path):
    class ReadsHalf(FaultyObjects):
        def get(self, key, *, at_most):
            body = super().get(key, at_most=at_most)
            return body[: len(body) // 2] if key == CFG else body

    bench = MoverBench(store, clock=clock)
    bench.upload(image("AB"))
    before = store.get(CFG, at_most=10**6)

    with pytest.raises(DamagedMetadata):
        MoverBench(ReadsHalf(store), clock=clock).upload(image("AB"))
    assert store.get(CFG, at_most=10**6) == before


def test_an_upload_that_wakes_up_before_it_began_leaves_what_its_repetition_finished(store, clock, image, tmp_path):
    content = image("AB").read_bytes()
    again = MoverBench(store, clock=clock)
    frozen = FaultyObjects(store)
    frozen.interrupt(before_call=8, meanwhile=lambda: again.upload(tmp_path / "image"))

    with pytest.raises(StoreLocked, match="another client has finished"):
        MoverBench(frozen, clock=clock).upload(tmp_path / "image")
    again.download(tmp_path / "back")

    assert (tmp_path / "back").read_bytes() == content
