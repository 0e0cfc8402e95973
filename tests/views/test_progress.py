"""How far transfers are, alone and together."""

from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.transfer import TransferPhase
from tidegate.model.transfer_progress import TransferProgress, TransferResult
from tidegate.testing.builders import THEN, a_transfer
from tidegate.views.progress import ByteProgress, progress_text, speed_text, summed_progress, transfer_progress
from tidegate.views.reader import Reader

READER = Reader(now=THEN)


def moving(done=0, total=None, rate=None, stage=""):
    progress = TransferProgress(stage=stage, bytes_done=done, total_bytes=total, bytes_per_second=rate)
    return a_transfer("t", TransferPhase.IN_PROGRESS).with_status(progress=progress)


def completed(size):
    return a_transfer("t", TransferPhase.COMPLETED).with_status(
        progress=TransferProgress(bytes_done=1, total_bytes=size, bytes_per_second=5.0),
        result=TransferResult(size=size),
    )


def test_a_transfer_that_has_not_begun_has_done_nothing_of_an_unknown_whole():
    assert transfer_progress(a_transfer("t")) == ByteProgress()


def test_a_transfer_never_does_more_than_all():
    assert transfer_progress(moving(done=12, total=10)) == ByteProgress(done=10, total=10)


def test_the_result_counts_more_than_the_last_report():
    assert transfer_progress(completed(100)) == ByteProgress(done=100, total=100)


@pytest.mark.parametrize("phase", [TransferPhase.FAILED, TransferPhase.CANCELED, TransferPhase.PREPARED])
def test_what_does_not_move_has_no_rate(phase):
    stopped = moving(done=5, total=10, rate=3.0, stage="uploading").with_status(phase=phase)

    assert transfer_progress(stopped) == ByteProgress(done=5, total=10)


def test_the_sum_adds_bytes_and_rates_and_names_each_stage_once():
    transfers = [
        moving(10, 100, 5.0, "uploading"),
        moving(30, 100, 15.0, "uploading"),
        moving(0, 100, None, "reading"),
        completed(100),
    ]

    assert summed_progress(transfers) == ByteProgress(140, 400, 20.0, "uploading, reading")


def test_one_unknown_whole_makes_the_sum_unknown_and_so_the_time_left():
    together = summed_progress([moving(10, 100, 5.0), moving(10, None, 5.0)])

    assert (together.done, together.total, together.percent, together.left) == (20, None, None, None)


def test_no_transfers_are_no_progress():
    assert summed_progress([]) == ByteProgress()


@given(st.lists(st.tuples(st.integers(0, 1000), st.none() | st.integers(0, 1000), st.none() | st.floats(0, 1e6))))
def test_together_they_never_exceed_the_whole(reports):
    together = summed_progress([moving(*report) for report in reports])

    assert together.total is None or together.done <= together.total
    assert together.left is None or together.left >= timedelta()


@pytest.mark.parametrize(
    ("progress", "text", "speed"),
    [
        (ByteProgress(), "", ""),
        (ByteProgress(done=2048), "2.0 KiB", ""),
        (ByteProgress(done=0, total=0), "0 B of 0 B", ""),
        (ByteProgress(512, 1024, 256.0), "512 B of 1.0 KiB (50 %)", "256 B/s, 2s left"),
        (ByteProgress(512, None, 256.0), "512 B", "256 B/s, time left unknown"),
    ],
)
def test_only_what_is_known_is_told(progress, text, speed):
    assert progress_text(progress, READER) == text
    assert speed_text(progress, READER) == speed
