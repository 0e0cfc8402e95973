"""Transfers as numbers: the same whatever way the news came."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.resource import Condition
from tidegate.model.transfers.transfer import TransferPhase, TransferProgress
from tidegate.state.transfer_figures import TransferFigures
from tidegate.testing.resources.builders import a_transfer

CHANGES = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from(TransferPhase), st.integers(0, 9), st.booleans(), st.booleans()),
    max_size=20,
)
STALLED = Condition(type="Stalled", status="True")


@given(CHANGES)
def test_figures_told_of_every_change_equal_those_counted_from_what_is_stored(changes):
    figures, stored = TransferFigures(), {}
    for number, phase, done, stalled, gone in changes:
        upload = a_transfer(f"u{number}").with_status(
            phase=phase,
            progress=TransferProgress(bytes_done=done, total_bytes=9),
            conditions=(STALLED,) if stalled else (),
        )
        if gone:
            figures.forget(upload.ref)
            stored.pop(number, None)
        else:
            figures.note(upload)
            stored[number] = upload

    statuses = [upload.status for upload in stored.values()]
    assert {phase: figures.phases[phase] for phase in TransferPhase} == {
        phase: sum(status.phase is phase for status in statuses) for phase in TransferPhase
    }
    assert figures.stalled == sum(bool(status.conditions) for status in statuses)
    moving = sum(status.progress.bytes_done for status in statuses if status.phase.moving)
    assert figures.moving_bytes == {"upload": moving, "download": 0}
