"""Which namespaces a backup touches."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.queue.overlap import (
    ALL_OTHERS,
    Scope,
    check_pattern,
    common_name,
    is_glob,
    resolve_scope,
    selects,
    universe_of,
)

# velero.md 6.4: Velero's own table; names that do not exist stay in the scope here, on purpose.
TABLE = [
    ((), (), "default kube-system test", "all but"),
    (("*",), (), "default kube-system test", "all but"),
    (("default", "test"), (), "default kube-system test", "default test"),
    (("*",), ("kube-system",), "default kube-system test", "all but kube-system"),
    ((), ("kube-*",), "default kube-system test", "all but kube-system kube-9q7z9"),
    (("a",), ("*",), "a b", ""),
    (("kube-*",), (), "default kube-system kube-public test", "kube-system kube-public kube-9q7z9"),
    (("app-*",), ("*-test",), "app-prod app-dev app-test default", "app-prod app-dev app-9q7z9"),
    (("nonexistent-*",), (), "default kube-system", "nonexistent-9q7z9"),
    (("*",), (), "", "all but"),
    (("default", "nonexistent"), (), "default test", "default nonexistent"),
    (("default", "test"), ("default", "test"), "default test prod", ""),
    (("ns-?",), (), "ns-1 ns-2 ns-10 default", "ns-1 ns-2 ns-q"),
    (("ns-[ab]",), (), "ns-a ns-b ns-c", "ns-a ns-b"),
]


@pytest.mark.parametrize(("included", "excluded", "existing", "expected"), TABLE)
def test_a_scope_holds_what_passes_both_lists(included, excluded, existing, expected):
    universe = universe_of(existing.split(), [*included, *excluded])

    everything = expected.startswith("all but")
    names = expected.removeprefix("all but").split()
    assert resolve_scope(included, excluded, universe=universe) == Scope(frozenset(names), all_but=everything)


def shared(one, other, *, existing=()):
    """What two backups share, each given as (includes, excludes)."""
    universe = universe_of(existing, [pattern for lists in (one, other) for patterns in lists for pattern in patterns])
    first, second = (resolve_scope(*lists, universe=universe) for lists in (one, other))
    assert first.shared_with(second) == second.shared_with(first)
    return first.shared_with(second)


def test_all_but_one_namespace_does_not_touch_that_one():
    assert not shared(((), ("ns1",)), (("ns1",), ()), existing=["ns1", "ns2"])
    assert shared(((), ("ns1",)), (("ns1", "ns2"), ())) == {"ns2"}


def test_two_unfiltered_backups_overlap_even_where_no_namespace_exists():
    assert shared(((), ()), ((), ("a",))) == {ALL_OTHERS}


def test_two_backups_of_a_namespace_that_does_not_exist_yet_overlap():
    assert shared((("tomorrow",), ()), (("tomorrow",), ())) == {"tomorrow"}


@pytest.mark.parametrize(
    ("one", "other", "overlap"),
    [
        ("ab*", "*cd", True),
        ("a?c", "ab*", True),
        ("a-[0-9]", "a-[5-7]*", True),
        ("a-[0-4]", "a-[5-7]*", False),
        ("shop-*", "*-db", True),
        ("shop-*", "blog-*", False),
        ("a?", "a", False),
        ("*a", "*b", False),
    ],
)
def test_two_globs_overlap_if_some_name_could_be_meant_by_both(one, other, overlap):
    assert bool(shared(((one,), ()), ((other,), ()))) is overlap


GLOBS = st.text("ab*?", min_size=1, max_size=6).filter(lambda glob: "**" not in glob and is_glob(glob))
SMALL_NAMES = ["".join(letters) for size in range(1, 6) for letters in product("ab", repeat=size)]


@given(GLOBS, GLOBS)
def test_a_common_name_is_found_exactly_if_there_is_one(one, other):
    def match(name):
        return selects(name, included=(one,), excluded=()) and selects(name, included=(other,), excluded=())

    found = common_name(one, other)

    assert found is None or match(found)
    if found is None:
        assert not any(map(match, SMALL_NAMES))


def test_what_a_glob_leaves_out_does_not_hide_what_it_means():
    assert shared((("s*",), ("sx*",)), (("s*",), ()))
    assert shared((("s*",), ("sb*",)), (("*b",), ()))
    assert not shared((("s*",), ("sx*",)), (("sx*",), ()))


def test_with_very_many_globs_they_all_overlap_to_be_safe():
    universe = universe_of([], [f"ns-{number}-*" for number in range(65)])

    scopes = [resolve_scope((f"ns-{number}-*",), (), universe=universe) for number in (3, 4)]

    assert scopes[0].shared_with(scopes[1]) == {ALL_OTHERS}


@pytest.mark.parametrize("pattern", ["ns1", "app-*", "ns-?", "ns[abc]", "*", "a-[0-9]-*"])
def test_names_and_globs_are_accepted(pattern):
    assert check_pattern(pattern) == pattern


@pytest.mark.parametrize(
    "pattern", ["kube-**", "a|b", "ns{a,b}", "ns[", "ns[]", "ns]", "UPPER", "a b", "", "!x*", "-a"]
)
def test_anything_else_is_refused_with_a_sentence(pattern):
    with pytest.raises(ValueError, match=r"\w+ \w+"):
        check_pattern(pattern)


def test_selecting_one_namespace_agrees_with_the_scope():
    assert selects("shop", included=("sh*",), excluded=())
    assert not selects("shop", included=("sh*",), excluded=("shop",))
    assert selects("anything", included=(), excluded=())
