"""Nothing is written into the server's own data directory, wherever links lead by the time of writing."""

import subprocess

import pytest

from tidegate.errors import DestinationUnusable
from tidegate.model.mover_job import DownloadJob
from tidegate.model.restore import ExistingData
from tidegate.model.volume import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import TARGET, MoverBench
from tidegate.testing.sample_data import fill_tree, picture
from tidegate.volumes.places import touches


@pytest.fixture
def state(tmp_path):
    fill_tree(tmp_path / "machine" / "state", seed=1)
    (tmp_path / "machine" / "beside").mkdir()
    return tmp_path / "machine" / "state"


def restore(bench, kind, path, state):
    bench.do(
        DownloadJob(
            target=TARGET,
            store_volume=bench.volume,
            store_backup="backup-1",
            volume_kind=kind,
            path=str(path),
            existing_data=ExistingData.OVERWRITE,
            keep_out=str(state),
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
        restore(bench, kind, tmp_path / place, state)

    assert picture(tmp_path / "machine") == before


def test_a_link_that_is_planted_while_a_restore_waits_leads_nothing_into_it(tmp_path, state, kind):
    later = tmp_path / "machine" / "beside" / "later"
    bench, before = uploaded(MoverBench(MemoryObjects(ManualClock())), kind, tmp_path), picture(state)
    bench.on_ready = lambda _: later.symlink_to(state)

    with pytest.raises(DestinationUnusable):
        restore(bench, kind, later / "deep" / "x", state)

    assert picture(state) == before


def test_beside_it_is_fine(tmp_path, state, kind):
    bench = uploaded(MoverBench(MemoryObjects(ManualClock())), kind, tmp_path)

    restore(bench, kind, tmp_path / "machine" / "beside" / "x", state)

    assert (tmp_path / "machine" / "beside" / "x").exists()


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
