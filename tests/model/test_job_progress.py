"""How far transfers are, alone and as the whole of a job."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.backups.backup import BackupPhase, BackupProgress
from tidegate.model.backups.byte_progress import ByteProgress, JobBytes
from tidegate.model.backups.item_block import BlockProgress
from tidegate.model.job_progress import job_progress, progress_of, transfer_progress, with_bytes, with_bytes_at_end
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, TransferPhase
from tidegate.model.transfers.transfer_progress import TransferProgress, TransferResult
from tidegate.testing.resources.builders import a_backup, a_transfer

GIB = 1 << 30


def moving(done=0, total=None, rate=None, stage="", *, size=None, expected=None, phase=TransferPhase.IN_PROGRESS):
    told = TransferProgress(stage=stage, bytes_done=done, total_bytes=total, bytes_per_second=rate, size=size)
    return a_transfer("t", phase).with_status(progress=told).with_spec(expected_size=expected)


def completed(size):
    return moving(done=1, total=size, rate=5.0).with_status(
        phase=TransferPhase.COMPLETED, result=TransferResult(size=size)
    )


def test_a_transfer_that_has_not_begun_has_done_nothing_of_an_unknown_whole():
    assert transfer_progress(a_transfer("t")) == ByteProgress()


def test_a_transfer_that_waits_is_as_large_as_its_volume_was_last():
    assert transfer_progress(a_transfer("t").with_spec(expected_size=7)) == ByteProgress(0, 7)


def test_a_transfer_never_does_more_than_all():
    assert transfer_progress(moving(done=12, total=10)) == ByteProgress(done=10, total=10)


def test_the_result_counts_more_than_the_last_report():
    assert transfer_progress(completed(100)) == ByteProgress(done=100, total=100, final=True)


@pytest.mark.parametrize("phase", [TransferPhase.FAILED, TransferPhase.CANCELED, TransferPhase.PREPARED])
def test_what_does_not_move_has_no_rate(phase):
    stopped = moving(done=5, total=10, rate=3.0, stage="uploading", phase=phase)

    assert transfer_progress(stopped) == ByteProgress(done=5, total=10, final=phase.final)


def test_what_an_upload_need_not_look_at_is_done():
    upload = moving(done=10, total=100, rate=5.0, size=1000)

    assert transfer_progress(upload) == ByteProgress(done=910, total=1000, rate=5.0)


def test_whole_blocks_of_a_small_volume_count_as_its_own_bytes():
    upload = moving(done=1024, total=4096, rate=512.0, size=400)

    assert transfer_progress(upload) == ByteProgress(done=100, total=400, rate=50.0)


def test_the_measured_size_takes_the_place_of_the_last_known_one():
    assert transfer_progress(moving(total=300, size=300, expected=100)).total == 300


def test_the_whole_of_a_job_is_there_from_its_first_second_with_the_volumes_that_wait():
    """Of 46 volumes the four that had begun looked like 100 %, and then 1.4 GiB were moved."""
    begun = [completed(3 << 20) for _ in range(4)]

    together = job_progress(begun, waiting=[GIB, GIB // 2])

    assert (together.done, together.total, together.percent) == (12 << 20, (12 << 20) + GIB + GIB // 2, 0)


def test_the_sum_adds_bytes_and_rates_and_names_each_stage_once():
    transfers = [
        moving(10, 100, 5.0, "uploading"),
        moving(30, 100, 15.0, "uploading"),
        moving(0, 100, None, "reading"),
        completed(100),
    ]

    assert job_progress(transfers) == ByteProgress(140, 400, 20.0, "uploading, reading")


def test_a_volume_of_unknown_size_is_counted_and_leaves_no_percent_and_no_time():
    together = job_progress([moving(10, 100, 5.0), moving(10, None, 5.0)], waiting=[50, None])

    assert (together.done, together.total, together.unmeasured) == (20, 160, 2)
    assert (together.percent, together.left) == (None, None)


def test_what_failed_stays_part_of_the_whole_and_takes_no_time():
    failed = moving(50, 100, phase=TransferPhase.FAILED)

    together = job_progress([failed, moving(40, 100, 10.0)])

    assert (together.percent, together.left) == (45, timedelta(seconds=6))


def test_a_job_of_no_volumes_has_no_whole():
    assert job_progress([]) == ByteProgress()


def test_while_volumes_are_looked_for_nothing_is_said_of_the_whole():
    assert job_progress([moving(10, 100)], settled=False).total is None


SIZES = st.none() | st.integers(0, 1000)
REPORTS = st.builds(
    moving,
    st.integers(0, 2000),
    SIZES,
    st.none() | st.floats(0, 1e6),
    size=SIZES,
    expected=SIZES,
    phase=st.sampled_from(list(TransferPhase)),
)


@given(st.lists(REPORTS | st.builds(completed, st.integers(0, 1000))), st.lists(SIZES), st.booleans())
def test_together_they_never_exceed_the_whole_and_reach_100_percent_only_at_the_end(transfers, waiting, final):
    together = job_progress(transfers, waiting, final=final)

    assert together.total is None or 0 <= together.done <= together.total
    assert together.percent is None or 0 <= together.percent <= (100 if final else 99)
    assert together.left is None or together.left >= timedelta()
    assert together.unmeasured == 0 or together.percent is None


@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 1000)), min_size=1), st.data())
def test_the_whole_stays_as_it_is_from_the_first_volume_to_the_last_if_sizes_do(volumes, data):
    """What waits, what moves and what is done add up to the same."""
    cut = sorted(data.draw(st.tuples(*[st.integers(0, len(volumes))] * 2)))
    done, on_its_way, waiting = volumes[: cut[0]], volumes[cut[0] : cut[1]], volumes[cut[1] :]
    transfers = [completed(size) for size, _ in done]
    transfers += [moving(min(moved, size), size, size=size, expected=size) for size, moved in on_its_way]

    assert job_progress(transfers, [size for size, _ in waiting]).total == sum(size for size, _ in volumes)


@given(st.integers(1, 1000), st.lists(st.integers(0, 1000)))
def test_a_volume_never_goes_back_while_its_bytes_are_moved(size, steps):
    seen = [transfer_progress(moving(done, 700, size=size)).done for done in sorted(steps)]

    assert seen == sorted(seen)


def a_running(**sizes):
    known = {f"shop/{name}": size for name, size in sizes.items() if size is not None}
    block = BlockProgress(volumes=tuple(f"shop/{name}" for name in sizes), expected_sizes=known)
    backup = a_backup("b", phase=BackupPhase.IN_PROGRESS)
    return backup.with_status(progress=BackupProgress(total_items=len(sizes)), blocks=(block,))


def test_a_backup_counts_a_volume_once_whether_it_waits_or_moves():
    backup = a_running(db=100, files=50, cache=None)
    upload = moving(10, 100, size=100).with_spec(volume_namespace="shop", volume_name="db")

    progress = progress_of(backup, [upload])

    assert (progress.done, progress.total, progress.unmeasured) == (10, 150, 1)


def test_a_backup_that_began_anew_does_not_count_what_an_interruption_ended():
    backup = a_running(db=100).with_status(attempt=1)
    earlier = moving(90, 100, phase=TransferPhase.FAILED).with_metadata(labels={ATTEMPT_LABEL: "0"})

    assert progress_of(backup, [earlier]) == ByteProgress(0, 100)


def test_what_is_stored_at_the_end_says_100_percent_and_no_rate():
    backup = a_running().with_status(blocks=(), phase=BackupPhase.FINALIZING)

    stored = with_bytes(backup, [completed(10)])
    ended = with_bytes_at_end(stored.with_status(phase=BackupPhase.COMPLETED))

    assert stored.status.bytes == JobBytes(done=10, total=10, percent=99)
    assert ended.status.bytes == JobBytes(done=10, total=10, percent=100)
