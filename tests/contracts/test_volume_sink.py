"""Every implementation of VolumeSink and BackupContent keeps the same promise."""

import random
from contextlib import contextmanager

import pytest

from tidegate.datapath.downloads.download import StoredContent, open_backup
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.errors import DestinationUnusable, MissingBlock, RestoredDataDiffers, WorkCancelled
from tidegate.format.cfgs.backup_cfg import DEFAULT_BLOCK_SIZE as BLOCK
from tidegate.format.cfgs.paths import block_key
from tidegate.model.restores.restore import ExistingData
from tidegate.model.transfers.mover_job import DownloadJob
from tidegate.model.volumes.volume_kind import VolumeKind
from tidegate.objects.memory import MemoryObjects
from tidegate.ports.volume_data import BackupContent, VolumeSink
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import TARGET, MoverBench
from tidegate.volumes.images.sink import ImageSink
from tidegate.volumes.trees.sink import DirectorySink

BYTES = random.Random(1).randbytes(3 * BLOCK + 5)


class Case:
    """A stored backup of one kind, and a destination for it."""

    def __init__(self, sink, tmp_path):
        self.sink_class, self.kind, self.tmp_path = sink, KINDS[sink], tmp_path
        self.objects = MemoryObjects(ManualClock())
        self.place = tmp_path / "place" / "volume"
        self.place.parent.mkdir()
        source = self.write(tmp_path / "source", BYTES)
        MoverBench(self.objects).upload(source, "backup-1", self.kind)

    def write(self, path, body):
        if self.kind is VolumeKind.DIRECTORY:
            path.mkdir()
            (path / "file").write_bytes(body)
        else:
            path.write_bytes(body)
        return path

    @property
    def restored(self):
        return (self.place / "file" if self.kind is VolumeKind.DIRECTORY else self.place).read_bytes()

    @property
    def beside(self):
        return [path.name for path in self.place.parent.iterdir()]

    def sink(self, existing=ExistingData.NONE):
        job = DownloadJob(
            target=TARGET,
            store_volume="shop.db",
            store_backup="backup-1",
            volume_kind=self.kind,
            path=str(self.place),
            existing_data=existing,
        )
        sink = self.sink_class(job)
        assert isinstance(sink, self.sink_class)
        return sink

    @contextmanager
    def content(self):
        with open_backup(StoredVolume(self.objects, "shop.db"), "backup-1") as content:
            yield content

    def lose_a_block(self):
        cfg = StoredVolume(self.objects, "shop.db").backup_cfg("backup-1")
        self.objects.delete(block_key("shop.db", cfg.blocks[1].checksum))


KINDS = {ImageSink: VolumeKind.IMAGE, DirectorySink: VolumeKind.DIRECTORY}
IMPLEMENTATIONS: dict[type[VolumeSink], object] = {ImageSink: Case, DirectorySink: Case}
CONTENTS: dict[type[BackupContent], object] = {StoredContent: Case}


def unheard(_count):
    return None


@pytest.fixture(params=IMPLEMENTATIONS, ids=lambda kind: kind.__name__)
def case(request, tmp_path):
    return IMPLEMENTATIONS[request.param](request.param, tmp_path)


def test_everything_comes_back_and_nothing_is_left_beside_it(case):
    heard = []
    with case.content() as content:
        warnings = case.sink().receive(content, on_bytes=heard.append)

        assert case.restored == BYTES
        assert (list(warnings), case.beside) == ([], ["volume"])
        assert 0 < sum(heard) <= content.size + content.block_size


def test_what_was_restored_passes_its_own_comparison_and_a_change_does_not(case):
    with case.content() as content:
        sink = case.sink()
        sink.receive(content, on_bytes=unheard)
        sink.read_back(content, on_bytes=unheard)
        changed = case.place / "file" if case.place.is_dir() else case.place
        with changed.open("r+b") as file:
            file.seek(BLOCK + 1)
            file.write(b"?")

        with pytest.raises(RestoredDataDiffers):
            sink.read_back(content, on_bytes=unheard)


def test_after_an_error_the_destination_is_as_it_was(case):
    case.write(case.place, b"before")
    case.lose_a_block()

    with case.content() as content, pytest.raises(MissingBlock):
        case.sink(ExistingData.OVERWRITE).receive(content, on_bytes=unheard)

    assert (case.restored, case.beside) == (b"before", ["volume"])


def test_after_a_cancellation_nothing_is_left(case):
    def cancel(_count):
        raise WorkCancelled("cancelled")

    with case.content() as content, pytest.raises(WorkCancelled):
        case.sink().receive(content, on_bytes=cancel)

    assert case.beside == []


def test_a_destination_that_cannot_be_used_is_refused_in_a_sentence(case):
    case.place.parent.rmdir()
    case.place.parent.write_text("in the way")

    with case.content() as content, pytest.raises(DestinationUnusable, match=" "):
        case.sink().receive(content, on_bytes=unheard)


@pytest.fixture(params=CONTENTS, ids=lambda kind: kind.__name__)
def content(request, tmp_path):
    with CONTENTS[request.param](ImageSink, tmp_path).content() as content:
        assert isinstance(content, request.param)
        yield content


def test_all_ways_to_read_a_block_give_the_same_and_only_that_is_the_block(content):
    for offset in content.block_offsets:
        block = content.read_block(offset)

        assert len(block) == content.block_size
        assert content.fetch_block(offset) == block
        assert content.fetch_blocks([offset]) == [block]
        assert content.is_block(offset, block)
        assert not content.is_block(offset, b"another")
    assert b"".join(map(content.fetch_block, content.block_offsets))[: content.size] == BYTES


def test_offsets_ascend_and_lie_in_the_content(content):
    offsets = list(content.block_offsets)

    assert offsets == sorted(set(offsets))
    assert offsets[-1] < content.size
    assert content.kept is None


def test_a_short_block_counts_as_filled_up_with_zeros(content):
    last = content.block_offsets[-1]

    assert content.is_block(last, BYTES[last:])


def test_work_in_parallel_does_every_item_and_raises_the_first_error(content):
    done = []
    content.in_parallel(range(20), done.append)
    assert sorted(done) == list(range(20))

    def fail(item):
        raise WorkCancelled(f"item {item}")

    with pytest.raises(WorkCancelled):
        content.in_parallel(range(20), fail)


def test_work_ahead_comes_back_in_order(content):
    assert list(content.ahead(range(20), lambda item: item * 2)) == [(item, item * 2) for item in range(20)]
