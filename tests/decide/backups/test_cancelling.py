"""How long a cancelled backup waits for its transfers."""

from datetime import timedelta

from tidegate.decide.backups.cancelling import did_not_stop, time_left_to_stop
from tidegate.model.transfers.transfer import TransferPhase
from tidegate.testing.resources.builders import THEN, a_transfer


def test_there_are_five_minutes_from_the_asking():
    assert time_left_to_stop(None, THEN) is None
    assert time_left_to_stop(THEN, THEN) == timedelta(minutes=5)
    assert time_left_to_stop(THEN, THEN + timedelta(minutes=4)) == timedelta(minutes=1)
    assert time_left_to_stop(THEN, THEN + timedelta(hours=1)) == timedelta()


def test_a_clock_that_went_back_gives_no_more_than_it_went_back_by():
    assert time_left_to_stop(THEN, THEN - timedelta(minutes=1)) == timedelta(minutes=6)


def test_the_sentence_names_those_that_did_not_stop():
    transfers = [
        a_transfer("b", TransferPhase.CANCELING, volume=("shop", "db")),
        a_transfer("a", TransferPhase.IN_PROGRESS, volume=("shop", "cache")),
        a_transfer("c", TransferPhase.COMPLETED, volume=("shop", "docs")),
    ]

    assert did_not_stop(transfers) == (
        "cancelled on request; 1 of 3 transfers had ended after 5 minutes, these had not: shop/cache, shop/db"
    )
