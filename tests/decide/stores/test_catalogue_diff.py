"""Which volumes and backups a sync pulls, reads again and drops."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.stores.catalogue_diff import (
    BackupsPlan,
    CfgLook,
    VolumesPlan,
    ignored_message,
    look_at_cfg,
    plan_backups,
    plan_volumes,
)

names = st.sets(st.sampled_from([f"vol-{number}" for number in range(12)]))


def test_what_is_new_is_pulled_and_what_is_gone_is_dropped():
    plan = plan_volumes({"a", "b", "c"}, {"b", "c", "d"})

    assert plan == VolumesPlan(pull=("d",), look=("b", "c"), drop=("a",))


@given(known=names, listed=names)
def test_never_is_more_than_half_dropped_unless_that_was_confirmed(known, listed):
    plan = plan_volumes(known, listed)

    assert 2 * len(plan.drop) <= len(known)
    assert (plan.held_back is None) == (2 * len(known - listed) <= len(known))
    assert set(plan.pull) == listed - known
    if plan.held_back:
        confirmed = plan_volumes(known, listed, confirmed=plan.held_back.mark)
        assert (set(confirmed.drop), confirmed.held_back) == (known - listed, None)


@given(known=names, listed=names, other=names)
def test_a_confirmation_counts_for_no_other_volumes(known, listed, other):
    held = plan_volumes(known, listed).held_back
    again = plan_volumes(known, other, confirmed=held.mark if held else "")

    if known - other != known - listed:
        assert 2 * len(again.drop) <= len(known)


def test_a_target_that_names_another_place_now_may_lose_all():
    assert plan_volumes({"a", "b"}, {"c"}, moved=True) == VolumesPlan(pull=("c",), look=(), drop=("a", "b"))


def test_a_backup_is_read_if_it_is_new_or_its_mark_has_changed():
    plan = plan_backups({"same": 1, "changed": 1, "gone": 1}, {"same": 1, "changed": 2, "new": 3})

    assert plan == BackupsPlan(read=("changed", "new"), drop=("gone",))


@given(
    known=st.dictionaries(st.text(max_size=3), st.integers(0, 3)),
    listed=st.dictionaries(st.text(max_size=3), st.integers(0, 3)),
)
def test_carrying_out_a_plan_leaves_nothing_to_do(known, listed):
    plan = plan_backups(known, listed)
    after = {name: mark for name, mark in known.items() if name not in plan.drop}
    after.update((name, listed[name]) for name in plan.read)

    assert plan_backups(after, listed) == BackupsPlan((), ())


QUIET = {"known": True, "changed": False, "settled": True, "faulty": False, "forced": False, "turn": 0}


@pytest.mark.parametrize(
    ("difference", "why"),
    [
        ({"known": False}, CfgLook.NEW),
        ({"changed": True}, CfgLook.CHANGED),
        ({"settled": False}, CfgLook.SETTLING),
        ({"faulty": True}, CfgLook.FAULTY),
        ({"forced": True}, CfgLook.FORCED),
    ],
)
def test_a_volume_cfg_is_looked_at_when_it_may_say_something_new(difference, why):
    assert look_at_cfg("vol", **{**QUIET, **difference}) is why


@given(name=st.text(), turn=st.integers(0, 1000))
def test_every_volume_cfg_has_its_turn_once_in_three_syncs(name, turn):
    looks = [look_at_cfg(name, **{**QUIET, "turn": turn + more}) for more in range(3)]

    assert sorted(looks) == [CfgLook.NOT_NOW, CfgLook.NOT_NOW, CfgLook.TURN]


def test_names_that_cannot_be_shown_are_cut_and_escaped():
    message = ignored_message(["../../etc", "x" * 10_000, "\ud800\n", "d"], what="volumes")

    assert message.startswith("passed over 4 entries that cannot be volumes: '../../etc', ")
    assert message.endswith("and 1 more")
    assert len(message) < 300
    assert message.isascii()
    assert ignored_message([], what="volumes") == ""
