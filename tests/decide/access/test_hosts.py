"""By which names a server may be called."""

import pytest

from tidegate.decide.access.hosts import is_known_host, parse_hosts

KNOWN = parse_hosts("Backup.example.org, *.lan")


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:8470",
        "LOCALHOST.:8470",
        "app.localhost",
        "127.0.0.1:8470",
        "[::1]:8470",
        "192.0.2.7",
        "backup.example.org:443",
        "BACKUP.example.org",
        "nas.lan",
        "a.b.lan:1",
    ],
)
def test_addresses_localhost_and_known_names_are_the_servers(host):
    assert is_known_host(host, KNOWN)


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "backup.example.org.evil.example",
        "lan",
        "xbackup.example.org",
        "localhost.evil",
        "1.2.3.4.nip.io",
        "",
        "a b",
        "localhost@evil.example",
        "[::1",
        "[localhost]x",
    ],
)
def test_no_other_name_is(host):
    assert not is_known_host(host, KNOWN)


def test_a_star_allows_every_name():
    assert is_known_host("anything.example:80", parse_hosts("*"))


@pytest.mark.parametrize("text", ["http://a", "a b", "a:80", "*x", ".a"])
def test_what_is_no_name_of_a_host_is_refused(text):
    with pytest.raises(ValueError, match="is not the name of a host"):
        parse_hosts(text)
