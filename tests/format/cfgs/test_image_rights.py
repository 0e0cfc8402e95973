"""Mode and owner of an image, kept in the cfg's Parameters."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tidegate.format.cfgs.image_rights import ImageRights


@given(st.integers(0, 0o777), st.integers(0, 2**32 - 1), st.integers(0, 2**32 - 1))
@example(0o640, 2**32 - 1, 10**9)
def test_rights_survive_the_way_through_a_cfg(mode, user, group):
    rights = ImageRights(mode, user, group)

    assert ImageRights.from_parameters(rights.to_parameters()) == rights


def test_a_store_cannot_make_a_file_run_with_somebody_elses_rights():
    forged = {"tidegate.dev/file-mode": "4755", "tidegate.dev/file-owner": "0:0"}

    assert ImageRights.from_parameters(forged) == ImageRights(0o755, 0, 0)


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"tidegate.dev/file-mode": "0644"},
        {"tidegate.dev/file-mode": "rw", "tidegate.dev/file-owner": "1:1"},
        {"tidegate.dev/file-mode": "0644", "tidegate.dev/file-owner": "-1:-1"},
        {"tidegate.dev/file-mode": "0644", "tidegate.dev/file-owner": f"{2**32}:0"},
    ],
)
def test_a_cfg_that_does_not_say_leaves_the_choice_to_the_restore(parameters):
    assert ImageRights.from_parameters(parameters) is None
