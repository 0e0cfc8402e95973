"""Every way to make identities gives each one out once."""

import pytest

from tidegate.app.machine.identity import new_id
from tidegate.ports.identity import NewId
from tidegate.testing.identity import counting_ids

IMPLEMENTATIONS: dict[str, NewId] = {"machine": new_id, "counting": counting_ids()}


@pytest.mark.parametrize("make", IMPLEMENTATIONS.values(), ids=IMPLEMENTATIONS)
def test_no_identity_is_made_twice(make):
    made = [make() for _ in range(1000)]

    assert len(set(made)) == 1000
    assert all(isinstance(one, str) and one for one in made)
