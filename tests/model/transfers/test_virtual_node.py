"""The file that names virtual nodes: what is read, and what is refused with which path."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.transfers.virtual_node import VirtualNode, parse_virtual_nodes


def test_nodes_have_names_labels_and_slots():
    text = json.dumps([{"name": "node-a", "labels": {"disk": "slow"}, "slots": 2}, {"name": "node-b"}])

    assert parse_virtual_nodes(text) == (
        VirtualNode(name="node-a", labels={"disk": "slow"}, slots=2),
        VirtualNode(name="node-b"),
    )


def test_every_node_has_its_host_name_as_a_label_unless_the_file_gives_another():
    named = VirtualNode(name="b", labels={"kubernetes.io/hostname": "other"})

    assert VirtualNode(name="a").all_labels == {"kubernetes.io/hostname": "a"}
    assert named.all_labels == {"kubernetes.io/hostname": "other"}


REFUSED = [
    ({}, "the document: must be a list in brackets, not {}"),
    ([], "the document: names no node; name at least one"),
    (["node-a"], '[0]: must be an object in braces, not "node-a"'),
    ([{}], "[0].name: is missing"),
    ([{"name": "a"}, {"name": "Node_B"}], "[1].name: 'Node_B' is not a name: use lower-case letters"),
    ([{"name": "a" * 64}], "[0].name: String should have at most 63 characters"),
    ([{"name": "a"}, {"name": "b"}, {"name": "a"}], "[2].name: a is already the name of [0]"),
    ([{"name": "a", "slots": 0}], "[0].slots: must be at least 1, not 0"),
    ([{"name": "a", "slots": "2"}], '[0].slots: must be a whole number, not "2"'),
    ([{"name": "a", "slots": True}], "[0].slots: must be a whole number, not true"),
    ([{"name": "a", "label": {}}], "[0].label: is not a known key here; perhaps you mean labels"),
    ([{"name": "a", "labels": {"x y": "1"}}], "[0].labels: 'x y' is not a label key"),
    ([{"name": "a", "labels": {"x": 1}}], "[0].labels.x: must be a text in quotes, not 1"),
]


@pytest.mark.parametrize(("document", "sentence"), REFUSED)
def test_a_mistake_is_refused_with_its_path(document, sentence):
    with pytest.raises(ValueError) as refused:  # noqa: PT011  # compared below
        parse_virtual_nodes(json.dumps(document))

    assert str(refused.value).startswith(sentence)


def refusal_of(document):
    try:
        parse_virtual_nodes(json.dumps(document))
    except ValueError as refusal:
        return str(refusal)
    return None


keys = st.sampled_from(["name", "labels", "slots", "other"])
labels = st.dictionaries(st.text(max_size=3), st.text())
leaves = st.none() | st.booleans() | st.integers() | st.text(max_size=5) | labels


@given(st.lists(st.dictionaries(keys, leaves, max_size=4), max_size=3) | leaves)
def test_any_json_is_read_or_refused_in_one_line(document):
    sentence = refusal_of(document)

    assert sentence is None or sentence.splitlines() == [sentence]
