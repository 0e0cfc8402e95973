"""What a request says while nothing of it moves."""

import pytest

from tidegate.decide.transfers.held_up import transfers_held_up
from tidegate.model.transfers.transfer import DataDownload, TransferPhase
from tidegate.testing.clock import BEGINNING
from tidegate.testing.resources.builders import a_transfer

P = TransferPhase


def a_download(name, phase, *why):
    download = a_transfer(name, phase, kind=DataDownload, volume=("ns", name))
    return download.replace(status=download.status.waiting(*why, since=BEGINNING)) if why else download


LIMITED = ("RestoreLimit", "5/5, position 3")
BUSY = ("NodeLoad", "node-a 2/2")
PAUSED = ("RestoresDisabled", "paused")


@pytest.mark.parametrize(
    ("downloads", "expected"),
    [
        ([a_download("a", P.NEW, *LIMITED)], ("RestoreLimit", "5/5, position 3")),
        ([a_download("a", P.PREPARED, *BUSY)], ("NodeLoad", "node-a 2/2")),
        (
            [a_download("a", P.NEW, *LIMITED), a_download("b", P.PREPARED, *BUSY)],
            ("NodeLoad", "node-a 2/2 (ns/b, the next of 2 volumes)"),
        ),
        (
            [a_download("a", P.COMPLETED), a_download("b", P.NEW, *LIMITED)],
            ("RestoreLimit", "5/5, position 3"),
        ),
        (
            [a_download("a", P.NEW, *PAUSED), a_download("b", P.NEW, *PAUSED)],
            ("RestoresDisabled", "restores are paused: concurrent-backup-restore-limit is 0"),
        ),
        ([a_download("a", P.NEW, *LIMITED), a_download("b", P.IN_PROGRESS)], None),
        ([a_download("a", P.NEW, *LIMITED), a_download("b", P.ACCEPTED)], None),
        ([a_download("a", P.NEW)], None),
        ([a_download("a", P.COMPLETED)], None),
        ([], None),
    ],
)
def test_a_request_waits_for_what_the_next_of_its_volumes_waits_for(downloads, expected):
    assert transfers_held_up(downloads) == expected
