"""How far system backups and restores are: of all their volumes, and never done before the end."""

from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.system.progress import bytes_backed_up, bytes_restored
from tidegate.model.system.system import SystemBackupVolume, VolumeDecision, VolumeOutcome
from tidegate.model.system.system_restore import RestoredVolume, RestoredVolumeState
from tidegate.model.transfers.transfer import RESTORE_LABEL, DataDownload, TransferPhase, TransferResult
from tidegate.model.transfers.transfer_progress import TransferProgress
from tidegate.testing.resources.builders import a_backup, a_restore, a_transfer


def a_row(volume, decision=VolumeDecision.CREATED, state=VolumeOutcome.WAITING):
    return SystemBackupVolume(volume=volume, decision=decision, backup=f"of-{volume[-1]}", state=state)


def moving(done, total, kind=DataDownload, **labels):
    told = TransferProgress(stage="uploading", bytes_done=done, total_bytes=total, size=total, bytes_per_second=10.0)
    moved = a_transfer("t", TransferPhase.IN_PROGRESS, kind=kind).with_status(progress=told)
    return moved.with_metadata(labels=labels)


def ended(size):
    return a_transfer("t", TransferPhase.COMPLETED).with_status(result=TransferResult(url="file:///s", size=size))


def test_a_system_backup_counts_all_its_volumes_from_its_start_by_their_last_known_sizes():
    """Those that it relies on, or leaves alone, are not its work."""
    rows = [a_row("n/a"), a_row("n/b"), a_row("n/c"), a_row("n/d", VolumeDecision.REUSED)]
    backups = {f"of-{name}": a_backup(f"of-{name}") for name in "abc"}
    uploads = {("uid-of-of-a", "n/a"): ended(100), ("uid-of-of-b", "n/b"): moving(50, 100)}

    before = bytes_backed_up(rows, {}, {}, {"n/a": 90, "n/b": 90, "n/c": 200, "n/d": 7})
    now = bytes_backed_up(rows, backups, uploads, {"n/a": 90, "n/b": 90, "n/c": 200, "n/d": 7})

    assert (before.done, before.total, before.percent) == (0, 380, 0)
    assert (now.done, now.total, now.percent, now.seconds_left) == (150, 400, 37, 25)


def test_a_volume_that_was_never_measured_leaves_the_whole_open_and_one_that_failed_is_waited_for_no_more():
    rows = [a_row("n/a"), a_row("n/b", state=VolumeOutcome.FAILED)]

    told = bytes_backed_up(rows, {}, {}, {})

    assert (told.percent, told.volumes_not_measured) == (None, 1)
    assert bytes_backed_up([a_row("n/a", VolumeDecision.SKIPPED)], {}, {}, {}) is None


@given(st.lists(st.integers(0, 1 << 50), min_size=1, max_size=3))
def test_a_system_backup_is_never_at_all_of_it_before_its_end(sizes):
    rows = [a_row(f"n/{name}") for name, _ in zip("abc", sizes, strict=False)]
    backups = {row.backup: a_backup(row.backup) for row in rows}
    uploads = {(f"uid-of-{row.backup}", row.volume): ended(size) for row, size in zip(rows, sizes, strict=True)}

    told = bytes_backed_up(rows, backups, uploads, {})

    assert told.done == told.total
    assert told.percent in ({99} if told.total else {None})
    assert told.at_end().percent in ({100} if told.total else {None})


def test_a_system_restore_counts_what_comes_back_and_says_what_is_not_measured():
    rows = [RestoredVolume(volume=f"n/{name}", restore=f"r-{name}", state=RestoredVolumeState.WAITING) for name in "ab"]
    rows.append(RestoredVolume(volume="n/c", state=RestoredVolumeState.SKIPPED))
    download = moving(30, 120, **{RESTORE_LABEL: "uid-of-r-a"})

    told = bytes_restored(rows, {name: a_restore(name) for name in ("r-a", "r-b")}, [download])

    assert (told.done, told.total, told.percent, told.volumes_not_measured) == (30, 120, None, 1)
    assert bytes_restored(rows[2:], {}, []) is None
