"""What becomes of a transfer that another server began."""

import pytest

from tidegate.decide.transfers.restore_limit import ASKED_ANNOTATION, IN_PROGRESS, RESTORE_PRIORITY_LABEL
from tidegate.decide.transfers.takeover import INTERRUPTED, MOST_ATTEMPTS, taken_over
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.restores.restore import RestorePhase
from tidegate.model.transfers.transfer import ATTEMPT_LABEL, PodVolumeRestore, TransferPhase, TransferStatus
from tidegate.testing.resources.builders import THEN, a_backup, a_restore, a_transfer

P = TransferPhase
IDLE = [P.ACCEPTED, P.PREPARED]
MOVED = [*IDLE, P.IN_PROGRESS]
RUNNING = a_backup("b", phase=BackupPhase.IN_PROGRESS)
RESTORING = a_restore("r", "a", phase=RestorePhase.IN_PROGRESS)


def next_of(transfer, request=None, *, has_mover=False):
    return taken_over(transfer, request, has_mover=has_mover, now=THEN)


@pytest.mark.parametrize("phase", [p for p in P if p not in MOVED])
@pytest.mark.parametrize("has_mover", [False, True])
def test_one_that_had_no_mover_or_is_being_stopped_is_left_as_it_is(phase, has_mover):
    upload, download = a_transfer("t", phase), a_download(phase)

    assert next_of(upload, RUNNING, has_mover=has_mover) is upload
    assert next_of(download, RESTORING, has_mover=has_mover) is download


@pytest.mark.parametrize("phase", MOVED)
def test_one_whose_mover_goes_on_goes_on(phase):
    upload, download = a_transfer("t", phase), a_download(phase)

    assert next_of(upload, RUNNING, has_mover=True) is upload
    assert next_of(download, RESTORING, has_mover=True) is download
    assert next_of(upload, None, has_mover=True) is upload


def test_an_upload_that_was_moving_is_stopped_and_cleared():
    stopping = next_of(a_transfer("t", P.IN_PROGRESS), RUNNING)

    assert (stopping.status.phase, stopping.status.message) == (P.CANCELING, INTERRUPTED)
    assert stopping.status.canceling_timestamp == THEN
    assert next_of(stopping, RUNNING) is stopping


@pytest.mark.parametrize("phase", IDLE)
def test_an_upload_whose_mover_was_idle_begins_anew_at_its_old_place(phase):
    before = a_transfer("t", phase, node="n").with_status(accepted_timestamp=THEN, prepared_timestamp=THEN)

    again = next_of(before, RUNNING)

    assert again == before.replace(status=TransferStatus())
    assert again.metadata.creation_timestamp == before.metadata.creation_timestamp
    assert next_of(again, RUNNING) is again


@pytest.mark.parametrize("phase", IDLE)
def test_an_upload_whose_snapshot_is_gone_is_stopped(phase):
    assert next_of(a_transfer("t", phase).with_status(from_snapshot=True), RUNNING).status.phase is P.CANCELING


@pytest.mark.parametrize("has_mover", [False, True])
@pytest.mark.parametrize("phase", [P.NEW, *MOVED])
@pytest.mark.parametrize(
    "over",
    [
        RUNNING.with_status(phase=BackupPhase.FAILED),
        RUNNING.with_status(interrupted=True),
        RUNNING.with_status(phase=BackupPhase.QUEUED, attempt=1),
    ],
    ids=["failed", "interrupted", "queued again"],
)
def test_an_upload_of_a_backup_that_was_broken_off_is_stopped_with_it(over, phase, has_mover):
    upload = a_transfer("t", phase).with_metadata(labels={ATTEMPT_LABEL: "0"})

    stopping = next_of(upload, over, has_mover=has_mover)

    assert (stopping.status.phase, stopping.status.message) == (P.CANCELING, INTERRUPTED)


def a_download(phase, *, attempt=0, owner="r", **spec):
    download = a_transfer("d", phase, kind=PodVolumeRestore, owner=owner, node="node-a").with_spec(**spec)
    labels = {RESTORE_PRIORITY_LABEL: IN_PROGRESS, ATTEMPT_LABEL: str(attempt)}
    return download.with_metadata(labels=labels, annotations={ASKED_ANNOTATION: "17"}).with_status(
        accepted_timestamp=THEN, start_timestamp=THEN
    )


@pytest.mark.parametrize("phase", MOVED)
def test_a_download_begins_anew_with_its_old_priority(phase):
    again = next_of(a_download(phase), RESTORING)

    status = again.status
    assert (status.phase, status.accepted_timestamp, status.start_timestamp, status.node) == (P.NEW, None, None, None)
    assert again.metadata.labels == {RESTORE_PRIORITY_LABEL: "17", ATTEMPT_LABEL: "1"}
    assert next_of(again, RESTORING) is again


@pytest.mark.parametrize("phase", MOVED)
def test_a_download_that_was_called_off_is_not_begun_anew(phase):
    assert next_of(a_download(phase, cancel=True), RESTORING).status.phase is P.CANCELING


def test_a_download_that_ends_every_server_fails_at_last():
    stopping = next_of(a_download(P.IN_PROGRESS, attempt=MOST_ATTEMPTS - 1), RESTORING)

    assert stopping.status.phase is P.CANCELING
    assert stopping.status.message == f"{INTERRUPTED}, for the 5th time; it is not tried again"


@pytest.mark.parametrize("has_mover", [False, True])
def test_a_download_of_a_restore_that_is_over_is_stopped(has_mover):
    over = a_restore("r", "a", phase=RestorePhase.CANCELED)

    assert next_of(a_download(P.IN_PROGRESS), over, has_mover=has_mover).status.phase is P.CANCELING
