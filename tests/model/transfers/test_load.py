"""The load configuration: what is read, what is refused and with which path, and which number holds for a node."""

import json
import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.model.transfers.load import (
    LoadConcurrency,
    NodeLimit,
    PerNodeRule,
    load_concurrency_from,
    parse_load_concurrency,
)
from tidegate.model.transfers.node_selector import NodeSelector

SEED = {
    "globalConfig": 2,
    "perNodeConfig": [
        {"nodeSelector": {"matchLabels": {"kubernetes.io/hostname": "node1"}}, "number": 3},
        {"nodeSelector": {"matchLabels": {"beta.kubernetes.io/instance-type": "Standard_B4ms"}}, "number": 5},
    ],
    "prepareQueueLength": 2,
}


def rule(selector, number=1):
    return {"perNodeConfig": [{"nodeSelector": {}, "number": 9}, {"nodeSelector": selector, "number": number}]}


def expression(**fields):
    return rule({"matchExpressions": [{"key": "disk", "operator": "In", **fields}]})


def test_the_document_of_velero_and_what_is_inside_of_it_mean_the_same():
    bare, whole = load_concurrency_from(SEED), load_concurrency_from({"loadConcurrency": SEED})

    assert bare == whole
    assert (bare.global_config, bare.prepare_limit, bare.restore_share) == (2, 2, 1)
    assert [one.number for one in bare.per_node_config] == [3, 5]


@pytest.mark.parametrize(("length", "limit"), [(None, None), (0, None), (-7, None), (1, 1), (30, 30)])
def test_a_prepare_queue_that_is_absent_zero_or_negative_is_unconstrained(length, limit):
    assert load_concurrency_from({"prepareQueueLength": length}).prepare_limit == limit


@pytest.mark.parametrize(("length", "share"), [(1, 0), (1, 1), (4, 4), (None, 50), (0, 50), (-1, 50)])
def test_a_share_for_restores_that_fits_is_taken(length, share):
    assert load_concurrency_from({"prepareQueueLength": length, "restoreShare": share}).restore_share == share


LABEL = "perNodeConfig[1].nodeSelector.matchLabels"
TERM = "perNodeConfig[1].nodeSelector.matchExpressions[0]"
DO_NOT_FIT = "for restores do not fit into a prepareQueueLength of 2; lower the one or raise the other"
REFUSED = [
    ([], "the document: must be an object in braces, not []"),
    (None, "the document: must be an object in braces, not null"),
    ({"loadConcurrency": 3}, "loadConcurrency: must be an object in braces, not 3"),
    (
        {"loadConcurrency": {"globalConfig": 2}, "prepareQueueLength": 3},
        "prepareQueueLength: belongs into loadConcurrency, not beside it",
    ),
    ({"loadConcurrency": {}, "podResources": {}}, '"podResources": is not known beside loadConcurrency; remove it'),
    (
        {"loadConcurrency": {"globalConfg": 1}},
        "loadConcurrency.globalConfg: is not a known key here; perhaps you mean globalConfig",
    ),
    ({"global_config": 2}, "global_config: is not a known key here; perhaps you mean globalConfig"),
    (
        rule({"disk": "slow"}),
        "perNodeConfig[1].nodeSelector.disk: is not a known key here; known are matchLabels, matchExpressions",
    ),
    (
        {"perNodeConfig": [{"matchLabels": {"disk": "slow"}, "number": 1}]},
        "perNodeConfig[0].matchLabels: belongs into perNodeConfig[N].nodeSelector, not here",
    ),
    (
        {"perNodeConfig": [{"nodeSelector": {}, "number": 1, "prepareQueueLength": 2}]},
        "perNodeConfig[0].prepareQueueLength: belongs into loadConcurrency itself, not here",
    ),
    ({"perNodeConfig": {}}, "perNodeConfig: must be a list in brackets, not {}"),
    ({"perNodeConfig": [{"number": 1}]}, "perNodeConfig[0].nodeSelector: is missing"),
    ({"perNodeConfig": [{"nodeSelector": {}}]}, "perNodeConfig[0].number: is missing"),
    ({"globalConfig": 0}, "globalConfig: must be at least 1, not 0"),
    ({"globalConfig": -1}, "globalConfig: must be at least 1, not -1"),
    ({"globalConfig": "2"}, 'globalConfig: must be a whole number, not "2"'),
    ({"globalConfig": 2.0}, "globalConfig: must be a whole number, not 2.0"),
    ({"globalConfig": True}, "globalConfig: must be a whole number, not true"),
    ({"globalConfig": 10**9}, "globalConfig: must be at most 1000000, not 1000000000"),
    (rule({}, 0), "perNodeConfig[1].number: must be at least 1, not 0"),
    (rule({}, "4"), 'perNodeConfig[1].number: must be a whole number, not "4"'),
    ({"prepareQueueLength": "2"}, 'prepareQueueLength: must be a whole number, not "2"'),
    ({"prepareQueueLength": True}, "prepareQueueLength: must be a whole number, not true"),
    ({"prepareQueueLength": 1.5}, "prepareQueueLength: must be a whole number, not 1.5"),
    ({"restoreShare": -1}, "restoreShare: must be at least 0, not -1"),
    ({"prepareQueueLength": 2, "restoreShare": 3}, f"restoreShare: 3 places {DO_NOT_FIT}"),
    (
        rule({"matchLabels": {"di sk": "slow"}}),
        f"{LABEL}: 'di sk' is not a label key: write for example app or example.com/app",
    ),
    (
        rule({"matchLabels": {"disk": "very slow"}}),
        f"{LABEL}: label disk='very slow': a value has at most 63 letters, digits, '-', '_' or '.'",
    ),
    (rule({"matchLabels": {"disk": 1}}), f"{LABEL}.disk: must be a text in quotes, not 1"),
    (expression(operator="Gt"), f'{TERM}.operator: must be In, NotIn, Exists or DoesNotExist, not "Gt"'),
    (expression(operator="in"), f'{TERM}.operator: must be In, NotIn, Exists or DoesNotExist, not "in"'),
    (expression(values=[]), f"{TERM}: In needs at least one of values"),
    (expression(operator="Exists", values=["x"]), f"{TERM}: Exists takes no values; remove them"),
    (
        expression(key="a b", values=["x"]),
        f"{TERM}.key: 'a b' is not a label key: write for example app or example.com/app",
    ),
]


@pytest.mark.parametrize(("document", "sentence"), REFUSED)
def test_a_mistake_is_refused_with_its_path_in_one_sentence(document, sentence):
    with pytest.raises(ValueError) as refused:  # noqa: PT011  # the whole sentence is compared
        parse_load_concurrency(json.dumps(document))

    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "not JSON: Expecting property name"),
        ("", "not JSON"),
        ('{"globalConfig": 1, "globalConfig": 2}', 'the key "globalConfig" is there twice'),
        ("[" * 100_000, "nested too deeply"),
        (f'{{"globalConfig": {"9" * 5000}}}', "a number of 5000 digits"),
        ('{"globalConfig": NaN}', "globalConfig: must be a whole number"),
    ],
)
def test_text_that_nobody_can_mean_is_refused_in_one_sentence(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        parse_load_concurrency(text)


# velero.md 6.6: node labels host-name=node-1, xxxx=yyyyy; global 6. What Velero skips with a warning is refused here
# (numbers below 1, selectors that cannot be read: see REFUSED), and a node without labels stands for one not found.
NODE = {"host-name": "node-1", "xxxx": "yyyyy"}
HOST, OTHER = {"host-name": "node-1"}, {"xxxx": "yyyyy"}
LIMITS = [
    (NODE, [], NodeLimit(6, "globalConfig")),
    (NODE, [({"other": "x"}, 3)], NodeLimit(6, "globalConfig")),
    ({}, [(HOST, 100)], NodeLimit(6, "globalConfig")),
    (NODE, [(HOST, 66)], NodeLimit(66, "perNodeConfig[0] host-name=node-1")),
    (NODE, [(HOST, 66), (OTHER, 36)], NodeLimit(36, "perNodeConfig[1] xxxx=yyyyy")),
    (NODE, [(HOST, 36), (OTHER, 66)], NodeLimit(36, "perNodeConfig[0] host-name=node-1")),
    (NODE, [(HOST, 36), (OTHER, 36)], NodeLimit(36, "perNodeConfig[0] host-name=node-1")),
    (NODE, [({}, 2)], NodeLimit(2, "perNodeConfig[0] every node")),
]


@pytest.mark.parametrize(("labels", "rules", "expected"), LIMITS)
def test_the_smallest_number_of_the_rules_that_choose_a_node_holds(labels, rules, expected):
    selected = tuple(PerNodeRule(node_selector=NodeSelector(match_labels=match), number=n) for match, n in rules)

    assert LoadConcurrency(global_config=6, per_node_config=selected).limit_for(labels) == expected


def test_without_any_configuration_a_node_moves_one_backup_and_one_restore_at_a_time():
    limit = parse_load_concurrency("{}").limit_for(NODE, slots=2)

    assert (limit.number, limit.apart, limit.total) == (1, True, 2)


@pytest.mark.parametrize(("text", "slots"), [('{"globalConfig": 1}', None), ("{}", 1)])
def test_a_limit_that_a_person_set_holds_for_backups_and_restores_together(text, slots):
    limit = parse_load_concurrency(parse_load_concurrency(text).render()).limit_for(NODE, slots=slots)

    assert (limit.apart, limit.total) == (False, 1)


@pytest.mark.parametrize(("slots", "expected"), [(None, 6), (9, 6), (6, 6), (2, 2)])
def test_a_node_never_carries_more_than_its_slots(slots, expected):
    limit = LoadConcurrency(global_config=6).limit_for({}, slots=slots)

    assert (limit.number, limit.given_by == "slots of the node") == (expected, expected == 2)


def refusal_of(text):
    """The sentence, or None if it is read."""
    try:
        parse_load_concurrency(text)
    except ValueError as refusal:
        return str(refusal)
    return None


keys = st.sampled_from(
    ["loadConcurrency", *SEED, "restoreShare", "nodeSelector", "number", "matchLabels", "matchExpressions", "key"]
) | st.text(max_size=5)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=4),
    max_leaves=12,
)


@given(json_values.map(json.dumps) | st.text())
def test_whatever_is_given_is_read_or_refused_in_one_line(text):
    sentence = refusal_of(text)

    assert sentence is None or sentence.splitlines() == [sentence]
    assert "validation error" not in (sentence or "")


words = st.from_regex(r"[a-z][a-z0-9]{0,5}", fullmatch=True)
labels = st.dictionaries(words, words, max_size=4)


def an_expression(values, *operators):
    return st.fixed_dictionaries({"key": words, "operator": st.sampled_from(operators), "values": values})


expressions = st.one_of(
    an_expression(st.lists(words, min_size=1, max_size=3), "In", "NotIn"),
    an_expression(st.just([]), "Exists", "DoesNotExist"),
)
selectors = st.fixed_dictionaries(
    {}, optional={"matchLabels": labels, "matchExpressions": st.lists(expressions, max_size=3)}
)
rules = st.fixed_dictionaries({"nodeSelector": selectors, "number": st.integers(1, 50)})
loads = st.fixed_dictionaries(
    {},
    optional={
        "globalConfig": st.integers(1, 50),
        "perNodeConfig": st.lists(rules, max_size=4),
        "prepareQueueLength": st.none() | st.integers(-3, 0) | st.integers(5, 40),
        "restoreShare": st.integers(0, 5),
    },
).map(load_concurrency_from)


@given(loads)
def test_what_is_written_is_read_back_as_the_same(load):
    assert parse_load_concurrency(load.render()) == load
    assert parse_load_concurrency(json.dumps({"loadConcurrency": json.loads(load.render())})) == load


@given(loads, labels)
def test_a_limit_is_at_least_one_and_no_rule_that_chooses_the_node_has_less(load, labels):
    limit = load.limit_for(labels).number

    chosen = [rule.number for rule in load.per_node_config if rule.node_selector.matches(labels)]
    assert limit == (min(chosen) if chosen else load.global_config or 1) >= 1


def test_the_sample_and_the_refusals_of_the_manual_are_true():
    manual = (Path(__file__).resolve().parents[3] / "docs" / "load.md").read_text()
    (sample,) = re.findall(r"```json\n(.*?)```", manual, re.DOTALL)
    told = [sentence for _, sentence in REFUSED if sentence in manual]

    assert parse_load_concurrency(sample).restore_share == 2
    assert len(told) == 4
