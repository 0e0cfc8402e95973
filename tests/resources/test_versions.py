"""How counting stores spell versions."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.errors import InvalidInput
from tidegate.resources.versions import DECIMAL, SCATTERED, Versions

COUNTS = st.integers(0, 2**40)


@given(COUNTS, st.sampled_from([DECIMAL, SCATTERED]))
def test_what_is_spelt_is_read_back(count: int, versions: Versions) -> None:
    assert versions.read("Backup", versions.spell("Backup", count)) == count


def test_in_memory_versions_have_no_order_as_text_or_as_numbers() -> None:
    versions = [SCATTERED.spell("Backup", count) for count in range(1, 100)]

    assert len(set(versions)) == 99
    assert not any(version.isdecimal() for version in versions)
    ups = sum(one < other for one, other in pairwise(versions))
    assert 20 < ups < 80


@pytest.mark.parametrize("version", ["", "7", "Volume.000000000000", "Backup.", "Backup.7", "Backup.zzzzzzzzzzzz"])
def test_in_memory_a_version_means_nothing_for_another_kind(version: str) -> None:
    with pytest.raises(InvalidInput):
        SCATTERED.read("Backup", version)


@pytest.mark.parametrize("version", ["", "-1", "1.0", "Backup.000000000000", "\u0667"])
def test_in_a_database_a_version_is_a_decimal_number(version: str) -> None:
    with pytest.raises(InvalidInput):
        DECIMAL.read("Backup", version)
