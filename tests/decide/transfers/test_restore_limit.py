"""The label of restores: since when one waits, that it runs, that it is over."""

from datetime import timedelta

import pytest

from tidegate.decide.transfers.restore_limit import (
    ASKED_ANNOTATION,
    IN_PROGRESS,
    RESTORE_PRIORITY_LABEL,
    asked,
    asked_at,
    asked_label,
    holds_slot,
    in_progress,
    over,
)
from tidegate.model.transfers.transfer import DataDownload, DataUpload, TransferPhase
from tidegate.testing.resources.builders import THEN, a_transfer

P = TransferPhase
ASKED = "1767225600000000000"


def a_download(phase=P.NEW, label=None, **labels):
    all_labels = {**labels, **({} if label is None else {RESTORE_PRIORITY_LABEL: label})}
    return a_transfer("d", phase, kind=DataDownload).with_metadata(labels=all_labels)


def test_the_label_is_the_time_in_unix_nanoseconds_and_keeps_the_order_within_one_restore():
    assert asked_label(THEN, 0) == ASKED
    assert asked_label(THEN + timedelta(microseconds=1), 0) == "1767225600000001000"
    assert [asked_label(THEN, nth)[-1] for nth in range(3)] == ["0", "1", "2"]


def test_a_life_asked_for_in_progress_begun_anew_and_over():
    waits = asked(a_download(team="web"))
    assert waits.metadata.labels == {"team": "web", RESTORE_PRIORITY_LABEL: ASKED}

    runs = in_progress(waits)
    assert runs.metadata.labels == {"team": "web", RESTORE_PRIORITY_LABEL: IN_PROGRESS}
    assert runs.metadata.annotations == {ASKED_ANNOTATION: ASKED}
    assert in_progress(runs) == runs

    assert asked(runs).metadata.labels == waits.metadata.labels
    assert over(runs).metadata.labels == {"team": "web"}


def test_when_it_was_asked_for_is_known_whatever_the_label_says_now():
    early = a_download(label="77")

    assert [asked_at(one) for one in (early, in_progress(early), over(in_progress(early)))] == [77, 77, 77]


@pytest.mark.parametrize("label", [None, "", "soon", "1e9", "7.7", IN_PROGRESS])
def test_a_label_that_is_no_time_leaves_the_time_of_creation(label):
    assert asked_at(a_download(label=label)) == int(ASKED)


def test_the_label_means_nothing_on_an_upload():
    upload = a_transfer("u", kind=DataUpload).with_metadata(labels={RESTORE_PRIORITY_LABEL: "1"})

    assert asked_at(upload) == int(ASKED)
    assert not holds_slot(upload)


SLOTS = [
    *((phase, None, phase not in {P.NEW, P.COMPLETED, P.FAILED, P.CANCELED}) for phase in P),
    *((phase, IN_PROGRESS, True) for phase in P),
    (P.NEW, "77", False),
]


@pytest.mark.parametrize(("phase", "label", "expected"), SLOTS)
def test_who_holds_a_slot(phase, label, expected):
    assert holds_slot(a_download(phase, label)) is expected
