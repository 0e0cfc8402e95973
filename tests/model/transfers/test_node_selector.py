"""Selectors over node labels mean what they mean in Kubernetes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.transfers.node_selector import NodeSelector

NODE = {"disk": "slow", "zone": "a"}
MATCHES = [
    ({}, True),
    ({"matchLabels": {"disk": "slow"}}, True),
    ({"matchLabels": {"disk": "slow", "zone": "a"}}, True),
    ({"matchLabels": {"disk": "slow", "zone": "b"}}, False),
    ({"matchLabels": {"gpu": ""}}, False),
    ({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a", "b"]}]}, True),
    ({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["b"]}]}, False),
    ({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["a"]}]}, False),
    ({"matchExpressions": [{"key": "zone", "operator": "NotIn", "values": ["b"]}]}, True),
    ({"matchExpressions": [{"key": "gpu", "operator": "NotIn", "values": ["b"]}]}, True),
    ({"matchExpressions": [{"key": "disk", "operator": "Exists"}]}, True),
    ({"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}, False),
    ({"matchExpressions": [{"key": "gpu", "operator": "DoesNotExist"}]}, True),
    ({"matchExpressions": [{"key": "disk", "operator": "DoesNotExist"}]}, False),
    ({"matchLabels": {"disk": "slow"}, "matchExpressions": [{"key": "gpu", "operator": "Exists"}]}, False),
]


@pytest.mark.parametrize(("selector", "expected"), MATCHES)
def test_labels_and_expressions_must_all_hold(selector, expected):
    assert NodeSelector.model_validate(selector).matches(NODE) is expected


@pytest.mark.parametrize(
    "text", ["disk=slow", "disk=slow,zone=a", "zone in (a,b)", "zone notin (a,b)", "zone!=a", "gpu", "!gpu", "a=b,!c"]
)
def test_a_selector_is_written_as_it_is_read(text):
    assert NodeSelector.parse(text).text == text


def test_an_empty_selector_says_that_it_chooses_every_node():
    assert NodeSelector().text == "every node"


def test_two_values_for_one_label_can_never_hold_and_are_both_kept():
    selector = NodeSelector.parse("disk=slow,disk=fast")

    assert not selector.matches({"disk": "slow"})
    assert not selector.matches({"disk": "fast"})


terms = st.sampled_from(["a=x", "a!=x", "b in (x,y)", "b notin (x,y)", "c", "!c"])


@given(
    st.lists(terms, min_size=1, max_size=4, unique=True),
    st.dictionaries(st.sampled_from("abc"), st.sampled_from("xyz")),
)
def test_reading_what_was_written_chooses_the_same_nodes(chosen, labels):
    selector = NodeSelector.parse(",".join(chosen))

    assert NodeSelector.parse(selector.text).matches(labels) is selector.matches(labels)
