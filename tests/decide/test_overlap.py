"""Which namespaces a backup touches."""

import pytest

from tidegate.decide.overlap import ALL_OTHERS, check_pattern, resolve_scope, selects, universe_of

# velero.md 6.4: Velero's own table; names that do not exist stay in the scope here, on purpose.
TABLE = [
    ((), (), "default kube-system test", "default kube-system test *"),
    (("*",), (), "default kube-system test", "default kube-system test *"),
    (("default", "test"), (), "default kube-system test", "default test"),
    (("*",), ("kube-system",), "default kube-system test", "default test *"),
    (("kube-*",), (), "default kube-system kube-public test", "kube-system kube-public kube-x"),
    (("app-*",), ("*-test",), "app-prod app-dev app-test default", "app-prod app-dev app-x"),
    (("nonexistent-*",), (), "default kube-system", "nonexistent-x"),
    (("*",), (), "", "*"),
    (("default", "nonexistent"), (), "default test", "default nonexistent"),
    (("default", "test"), ("default", "test"), "default test prod", ""),
    (("ns-?",), (), "ns-1 ns-2 ns-10 default", "ns-1 ns-2 ns-x"),
    (("ns-[ab]",), (), "ns-a ns-b ns-c", "ns-a ns-b"),
]


@pytest.mark.parametrize(("included", "excluded", "existing", "expected"), TABLE)
def test_a_scope_holds_what_passes_both_lists(included, excluded, existing, expected):
    universe = universe_of(existing.split(), [*included, *excluded])

    assert resolve_scope(included, excluded, universe=universe) == frozenset(expected.split())


def test_all_but_one_namespace_does_not_touch_that_one():
    universe = universe_of(["ns1", "ns2"], [])

    assert not resolve_scope((), ("ns1",), universe=universe) & resolve_scope(("ns1",), (), universe=universe)


def test_two_unfiltered_backups_overlap_even_where_no_namespace_exists():
    nothing = universe_of([], [])

    assert resolve_scope((), (), universe=nothing) & resolve_scope((), (), universe=nothing) == {ALL_OTHERS}


def test_two_backups_of_a_namespace_that_does_not_exist_yet_overlap():
    universe = universe_of([], ["tomorrow", "tomorrow"])

    assert resolve_scope(("tomorrow",), (), universe=universe) & resolve_scope(("tomorrow",), (), universe=universe)


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
