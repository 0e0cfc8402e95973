"""Nothing is written into the server's own data directory or a store, wherever links lead by the time of writing."""

import subprocess
import threading

import pytest

from tidegate.errors import DestinationUnusable
from tidegate.model.restores.restore import ExistingData
from tidegate.model.transfers.mover_job import DownloadJob
from tidegate.model.volumes.kept_place import KeptPlace, data_directory
from tidegate.model.volumes.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import TARGET, MoverBench
from tidegate.testing.sample_data import fill_tree, picture
from tidegate.volumes.kept_places import PatientLooks, touches


@pytest.fixture
def state(tmp_path):
    fill_tree(tmp_path / "machine" / "state", seed=1)
    (tmp_path / "machine" / "beside").mkdir()
    return tmp_path / "machine" / "state"


def restore(bench, kind, path, *keep_out):
    bench.do(
        DownloadJob(
            target=TARGET,
            store_volume=bench.volume,
            store_backup="backup-1",
            volume_kind=kind,
            path=str(path),
            existing_data=ExistingData.OVERWRITE,
            keep_out=keep_out,
        )
    )


@pytest.fixture(params=[VolumeKind.IMAGE, VolumeKind.DIRECTORY])
def kind(request, tmp_path):
    fill_tree(tmp_path / "tree", seed=2)
    (tmp_path / "image").write_bytes(b"new" * 1000)
    return request.param


def uploaded(bench, kind, tmp_path):
    bench.upload(tmp_path / ("image" if kind is VolumeKind.IMAGE else "tree"), kind=kind)
    return bench


@pytest.mark.parametrize("place", ["machine/state/hooks/x", "machine/state", "machine"])
def test_a_restore_into_over_or_around_it_is_refused_by_the_mover(tmp_path, state, kind, place):
    bench, before = uploaded(MoverBench(MemoryObjects(ManualClock())), kind, tmp_path), picture(tmp_path / "machine")

    with pytest.raises(DestinationUnusable):
        restore(bench, kind, tmp_path / place, data_directory(str(state)))

    assert picture(tmp_path / "machine") == before


def test_a_link_that_is_planted_while_a_restore_waits_leads_nothing_into_it(tmp_path, state, kind):
    later = tmp_path / "machine" / "beside" / "later"
    bench, before = uploaded(MoverBench(MemoryObjects(ManualClock())), kind, tmp_path), picture(state)
    bench.on_ready = lambda _: later.symlink_to(state)

    with pytest.raises(DestinationUnusable):
        restore(bench, kind, later / "deep" / "x", data_directory(str(state)))

    assert picture(state) == before


def test_beside_it_is_fine(tmp_path, state, kind):
    bench = uploaded(MoverBench(MemoryObjects(ManualClock())), kind, tmp_path)

    restore(bench, kind, tmp_path / "machine" / "beside" / "x", data_directory(str(state)))

    assert (tmp_path / "machine" / "beside" / "x").exists()


def test_the_mover_names_the_store_that_a_restore_would_touch(tmp_path, state, kind):
    kept = KeptPlace(path=str(state), what="the store of target usb")
    bench, before = uploaded(MoverBench(MemoryObjects(ManualClock())), kind, tmp_path), picture(state)
    (tmp_path / "empty").mkdir()

    for place in ("", "x", "deep/below/x"):
        with pytest.raises(DestinationUnusable, match=f"is, holds or lies in {state}, the store of target usb"):
            restore(bench, kind, state / place, data_directory(str(tmp_path / "empty")), kept)

    assert picture(state) == before


@pytest.mark.parametrize("place", ["unplugged", "unplugged/store", "unplugged/store/x", "to-it/store/x"])
def test_a_store_that_is_not_there_is_kept_out_of_by_its_name_alone(tmp_path, place):
    (tmp_path / "to-it").symlink_to(tmp_path / "unplugged")

    assert touches(str(tmp_path / place), str(tmp_path / "unplugged" / "store"))
    assert touches(str(tmp_path / place), str(tmp_path / "to-it" / "store"))
    assert not touches(str(tmp_path / "unplugged" / "stored"), str(tmp_path / "unplugged" / "store"))


def test_a_store_that_never_answers_keeps_no_restore_from_other_places(tmp_path):
    dead = tmp_path / "dead"
    began, ended, entered = threading.Event(), threading.Event(), []

    def hang(path):
        entered.append(path)
        began.set()
        ended.wait(60)
        return []

    looks = PatientLooks(look=hang, answer_seconds=0.01)
    try:
        assert [looks.at(str(dead)), looks.at(str(dead))] == [[], []]
        assert began.wait(60)
        assert entered == [str(dead)]  # it is waited for once, by one thread
    finally:
        ended.set()


@pytest.mark.parametrize("place", ["elsewhere/hooks", "elsewhere/hooks/x", "elsewhere", "elsewhere/token"])
def test_what_a_part_of_it_links_to_is_a_part_of_it(tmp_path, state, place):
    (tmp_path / "elsewhere" / "hooks").mkdir(parents=True)
    (tmp_path / "elsewhere" / "token").write_text("x")
    (state / "hooks").symlink_to(tmp_path / "elsewhere" / "hooks")
    (state / "admin.token").symlink_to(tmp_path / "elsewhere" / "token")

    assert touches(str(tmp_path / place), str(state))
    assert not touches(str(tmp_path / "machine" / "beside"), str(state))


@pytest.mark.parametrize("place", ["there", "there/x"])
@pytest.mark.parametrize("part", ["", "hooks"])
def test_a_part_that_is_mounted_elsewhere_is_a_part_of_it_there_too(tmp_path, state, part, place):
    (state / "hooks").mkdir()
    (tmp_path / "there").mkdir()
    mounting = ["mount", "--bind", state / part, tmp_path / "there"]
    if subprocess.run(mounting, check=False, capture_output=True).returncode != 0:
        pytest.skip("nothing may be mounted here")
    try:
        assert touches(str(tmp_path / place), str(state))
    finally:
        subprocess.run(["umount", tmp_path / "there"], check=True)
