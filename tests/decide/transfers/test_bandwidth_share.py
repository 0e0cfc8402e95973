"""What one of the movers of a node may take of its bandwidth."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.transfers.bandwidth_share import shares

RATES = st.none() | st.integers(1, 10**10)


@pytest.mark.parametrize(
    ("per_node", "per_mover", "movers", "share"),
    [
        (None, None, 3, None),
        (None, 100, 3, 100),
        (90, None, 3, 30),
        (100, None, 3, 33),
        (90, 20, 3, 20),
        (90, 50, 3, 30),
        (2, None, 5, 1),
        (90, None, 0, 90),
    ],
)
def test_a_mover_gets_its_part_of_the_node_and_never_more_than_its_own_limit(per_node, per_mover, movers, share):
    assert shares(per_node, per_mover, movers) == share


@given(per_node=RATES, per_mover=RATES, movers=st.integers(1, 1000))
def test_all_movers_together_stay_below_the_limit_of_the_node(per_node, per_mover, movers):
    share = shares(per_node, per_mover, movers)

    if per_node is not None and per_node >= movers:
        assert share * movers <= per_node
    if per_mover is not None:
        assert share <= per_mover
    if per_node is None and per_mover is None:
        assert share is None
