"""What may be done to all that match, decided without a catalogue."""

import pytest

from tidegate.decide.stores.catalogue_selection import MOST_DELETED, check_deletable, check_expected
from tidegate.errors import InvalidInput, Refused
from tidegate.model.stores.catalogue import CatalogueCounts, CatalogueFilter

SOME = CatalogueFilter(namespace="old")


def test_a_filter_with_not_too_many_may_be_deleted():
    check_deletable(SOME, CatalogueCounts(1, 0))
    check_deletable(SOME, CatalogueCounts(1, MOST_DELETED))


@pytest.mark.parametrize(
    ("wanted", "count", "words"),
    [(CatalogueFilter(), 1, "everything would go"), (SOME, MOST_DELETED + 1, "at most 10000")],
    ids=["no filter", "too many"],
)
def test_what_cannot_be_meant_is_refused_with_a_sentence(wanted, count, words):
    with pytest.raises(InvalidInput, match=words):
        check_deletable(wanted, CatalogueCounts(1, count))


def test_fewer_than_somebody_saw_may_go_and_never_more():
    check_expected(5, 5)
    check_expected(5, 4)
    with pytest.raises(Refused, match="6 backups match by now, not 5"):
        check_expected(5, 6)
