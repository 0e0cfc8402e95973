"""Amounts of bytes and rates, as people write them."""

import pytest

from tidegate.model.quantity import read_quantity, read_rate
from tidegate.model.setting import KNOWN_SETTINGS, effective_settings


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("0", 0),
        ("65536", 65536),
        ("10MiB", 10 * 1024 * 1024),
        ("10Mi", 10 * 1024 * 1024),
        ("10 mib", 10 * 1024 * 1024),
        ("10M", 10_000_000),
        ("10MB", 10_000_000),
        ("1.5G", 1_500_000_000),
        ("2T", 2_000_000_000_000),
        ("512k", 512_000),
    ],
)
def test_an_amount_is_read_with_its_unit(text, count):
    assert read_quantity(text) == count


@pytest.mark.parametrize("text", ["", "fast", "-1", "10 XiB", "1e9", "1.5.5M", "M", "٣M", "9" * 40])
def test_what_is_no_amount_is_refused_with_an_example(text):
    with pytest.raises(ValueError, match="write for example 10MiB"):
        read_quantity(text)


def test_a_rate_of_zero_is_no_limit_and_one_that_gets_nowhere_is_refused():
    assert read_rate("0") is None
    assert read_rate("10MiB/s") == 10 * 1024 * 1024
    with pytest.raises(ValueError, match="the least is 64KiB"):
        read_rate("100")


def test_the_settings_of_bandwidth_are_rates_and_limit_nothing_until_they_are_set():
    limits = [definition for name, definition in KNOWN_SETTINGS.items() if name.startswith("limit-")]

    assert {limit.check("10MiB") for limit in limits} == {10 * 1024 * 1024}
    assert len(limits) == 4
    assert effective_settings([]).limit_upload_per_node is None
