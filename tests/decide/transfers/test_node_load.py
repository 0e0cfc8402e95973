"""How many transfers a node may move at once."""

import json

import pytest

from tidegate.decide.transfers.node_load import NodePlace
from tidegate.model.transfers.load import parse_load_concurrency
from tidegate.testing.resources.builders import a_node

LABELS = {"host-name": "node-1", "xxxx": "yyyyy"}
HOST, OTHER = {"host-name": "node-1"}, {"xxxx": "yyyyy"}


def rules(*numbers_by_label):
    selected = [{"nodeSelector": {"matchLabels": labels}, "number": number} for labels, number in numbers_by_label]
    return json.dumps({"globalConfig": 6, "perNodeConfig": selected})


# The ten cases of velero.md 6.6. Where the original warns and takes another number, a bad configuration is refused when
# it is given (REFUSED below), so a plan never meets one: global -1, an invalid selector, a rule with number -1.
RULES = [
    ("no configuration: 1", "{}", LABELS, 1),
    ("global 6", '{"globalConfig": 6}', LABELS, 6),
    ("rule, but nothing is known of the node", rules((HOST, 66)), {}, 6),
    ("a rule that does not match", rules(({"other": "x"}, 3)), LABELS, 6),
    ("one matching rule", rules((HOST, 66)), LABELS, 66),
    ("two matching rules, smaller last", rules((HOST, 66), (OTHER, 36)), LABELS, 36),
    ("two matching rules, smaller first", rules((HOST, 36), (OTHER, 66)), LABELS, 36),
    ("an empty selector matches every node", rules(({}, 2), (HOST, 5)), LABELS, 2),
]
REFUSED = [
    ("global -1", '{"globalConfig": -1}'),
    ("an invalid selector", '{"perNodeConfig": [{"nodeSelector": {"matchLabels": "host-name"}, "number": 100}]}'),
    ("a rule with number -1", rules((HOST, -1))),
]


@pytest.mark.parametrize(("_what", "config", "labels", "expected"), RULES, ids=[rule[0] for rule in RULES])
def test_the_smallest_matching_rule_wins_else_the_global_number(_what, config, labels, expected):
    assert parse_load_concurrency(config).limit_for(labels).number == expected


@pytest.mark.parametrize(("_what", "config"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_number_or_selector_that_means_nothing_is_refused_and_never_guessed_at(_what, config):
    with pytest.raises(ValueError, match=r"globalConfig|perNodeConfig"):
        parse_load_concurrency(config)


@pytest.mark.parametrize(("slots", "expected"), [(None, 6), (9, 6), (2, 2)])
def test_a_node_never_gets_more_than_its_own_slots(slots, expected):
    place = NodePlace.of(a_node("node-1", slots=slots), parse_load_concurrency('{"globalConfig": 6}'))

    assert place == NodePlace("node-1", ready=True, limit=expected)


@pytest.mark.parametrize(("slots", "pools"), [(None, 2), (2, 2), (1, 1)])
def test_by_default_a_restore_does_not_share_the_limit_of_backups_where_the_machine_bears_two(slots, pools):
    place = NodePlace.of(a_node("n", slots=slots), parse_load_concurrency("{}"))

    assert (len(place.pools), place.total) == (pools, pools)
