"""Whose word about a client counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidegate.decide.access.forwarded import client_behind, is_within, parse_networks, scheme_told

TRUSTED = parse_networks("10.0.0.0/8, 2001:db8:aa::/48, 127.0.0.1")


@pytest.mark.parametrize(
    ("peer", "forwarded_for", "forwarded", "client"),
    [
        ("203.0.113.9", "198.51.100.1", "", "203.0.113.9"),  # no proxy of ours: its word does not count
        ("10.0.0.1", "198.51.100.1", "", "198.51.100.1"),
        ("10.0.0.1", "1.1.1.1, 198.51.100.1", "", "198.51.100.1"),  # the left one was only claimed
        ("10.0.0.1", "198.51.100.1, 10.0.0.2", "", "198.51.100.1"),  # two proxies
        ("10.0.0.1", "10.0.0.3, 10.0.0.2", "", "10.0.0.3"),
        ("10.0.0.1", "198.51.100.1:4711", "", "198.51.100.1"),
        ("10.0.0.1", "[2001:db8::1]:4711", "", "2001:db8::1"),
        ("10.0.0.1", "1.1.1.1, nonsense", "", "10.0.0.1"),
        ("10.0.0.1", "1.1.1.1, unknown, 10.0.0.2", "", "10.0.0.2"),
        ("10.0.0.1", "", "for=198.51.100.1;proto=https", "198.51.100.1"),
        ("10.0.0.1", "", 'for=1.1.1.1, For="[2001:db8::1]:4711"', "2001:db8::1"),
        ("10.0.0.1", "", "for=_hidden", "10.0.0.1"),
        ("10.0.0.1", "1.1.1.1", "for=198.51.100.1", "10.0.0.1"),  # one of them is the client's own
        ("10.0.0.1", "198.51.100.1", "for=198.51.100.1", "198.51.100.1"),
        ("::ffff:10.0.0.1", "198.51.100.1", "", "198.51.100.1"),
        ("10.0.0.1", "", "", "10.0.0.1"),
        ("", "198.51.100.1", "", ""),
    ],
)
def test_the_rightmost_address_that_is_no_trusted_proxy_asks(peer, forwarded_for, forwarded, client):
    assert client_behind(peer, forwarded_for=forwarded_for, forwarded=forwarded, trusted=TRUSTED) == client


@given(st.text(max_size=60), st.text(max_size=60))
def test_without_trusted_proxies_nothing_that_is_said_counts(forwarded_for, forwarded):
    assert client_behind("192.0.2.1", forwarded_for=forwarded_for, forwarded=forwarded, trusted=()) == "192.0.2.1"


@given(st.lists(st.ip_addresses().map(str), max_size=5))
def test_what_a_client_claims_changes_nothing(claimed):
    chain = ", ".join([*claimed, "198.51.100.1"])

    assert client_behind("10.0.0.1", forwarded_for=chain, forwarded="", trusted=TRUSTED) == "198.51.100.1"


@pytest.mark.parametrize(
    ("proto", "forwarded", "scheme"),
    [
        ("https", "", "https"),
        ("HTTPS, http", "", "https"),
        ("", "for=1.1.1.1;proto=https", "https"),
        ("javascript", "", ""),
        ("", "", ""),
    ],
)
def test_a_proxy_tells_the_scheme(proto, forwarded, scheme):
    assert scheme_told(proto, forwarded) == scheme


@pytest.mark.parametrize("text", ["10.0.0.1/8", "proxy.example", "10.0.0.0/33"])
def test_what_is_no_network_is_refused(text):
    with pytest.raises(ValueError, match=r"."):
        parse_networks(text)


def test_what_is_no_address_is_in_no_network():
    assert not is_within("testclient", parse_networks("0.0.0.0/0, ::/0"))
