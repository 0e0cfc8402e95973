"""Who asks when a proxy stands in between: the word of a trusted proxy counts, and no other."""

import ipaddress
import re
from collections.abc import Sequence

Networks = tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]

# Headers in which a proxy tells by which address and to which one the client came.
FORWARDING_HEADERS = frozenset(
    {
        "forwarded",
        "x-api-request-url",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-port",
        "x-forwarded-proto",
        "x-real-ip",
    }
)
_PAIR = re.compile(r'\s*([A-Za-z]+)\s*=\s*(?:"([^"]*)"|([^\s;,"]+))\s*')
_PORT = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[0-9.]+):[0-9]{1,5}")


def parse_networks(text: str) -> Networks:
    """Networks and addresses between commas, such as `10.0.0.0/8, 192.0.2.1`. Raise ValueError for anything else."""
    return tuple(ipaddress.ip_network(part.strip()) for part in text.split(",") if part.strip())


def is_within(address: str, networks: Networks) -> bool:
    """Whether the address belongs to one of the networks; what is no address belongs to none."""
    parsed = _parsed(address)
    return parsed is not None and any(parsed.version == one.version and parsed in one for one in networks)


def client_behind(peer: str, *, forwarded_for: str, forwarded: str, trusted: Networks) -> str:
    """The address that asks: of those that proxies tell, the rightmost one that is not a trusted proxy itself.

    Each proxy appends the address that it sees, so whatever stands further left was only claimed. Where two headers
    tell different addresses, one of them came from the client: neither counts.
    """
    told = {
        _rightmost_untrusted(peer, chain, trusted)
        for chain in (_split(forwarded_for), [pairs.get("for", "") for pairs in _elements(forwarded)])
        if chain
    }
    return told.pop() if len(told) == 1 else peer


def scheme_told(forwarded_proto: str, forwarded: str) -> str:
    """`http` or `https` as a proxy tells it; empty if it does not. Of several proxies the outermost speaks first."""
    by_element = [pairs["proto"] for pairs in _elements(forwarded) if "proto" in pairs]
    first = next(iter([*_split(forwarded_proto), *by_element]), "").lower()
    return first if first in {"http", "https"} else ""


def _rightmost_untrusted(peer: str, chain: Sequence[str], trusted: Networks) -> str:
    address = peer
    for told in reversed(chain):
        if not is_within(address, trusted):
            break
        parsed = _parsed(_without_port(told))
        if parsed is None:
            break  # `unknown`, or nonsense: the proxy that passed it on is the last one that is known
        address = str(parsed)
    return address


def _without_port(text: str) -> str:
    found = _PORT.fullmatch(text)
    return (found[1] if found else text).strip("[]")


def _parsed(address: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return None
    return (parsed.ipv4_mapped or parsed) if isinstance(parsed, ipaddress.IPv6Address) else parsed


def _split(header: str) -> list[str]:
    return [part.strip() for part in header.split(",")] if header.strip() else []


def _elements(header: str) -> list[dict[str, str]]:
    """The elements of a `Forwarded` header (RFC 7239), each as its pairs."""
    return [
        {
            found[1].lower(): found[2] if found[2] is not None else found[3]
            for pair in element.split(";")
            if (found := _PAIR.fullmatch(pair))
        }
        for element in _split(header)
    ]
