"""By which names a server may be called: a name of a stranger that points here makes their pages pages of the server.

An address cannot be such a name, so all addresses are fine.
"""

import ipaddress
import re
from collections.abc import Collection

_NAME = re.compile(r"(?:\*\.)?[a-z0-9](?:[a-z0-9._-]{0,251}[a-z0-9])?")
_HOST = re.compile(r"(\[[0-9a-f:.]+\]|[^\[\]:]+)(?::[0-9]*)?", re.IGNORECASE)


def parse_hosts(text: str) -> frozenset[str]:
    """Names between commas; `*.example.org` stands for all below, `*` for every name. Raise ValueError for others."""
    names = frozenset(part.strip().lower() for part in text.split(",") if part.strip())
    for name in names:
        if name != "*" and not _NAME.fullmatch(name):
            raise ValueError(f"{name!r} is not the name of a host")
    return names


def is_known_host(header: str, known: Collection[str]) -> bool:
    """Whether a `Host` header names the server: by an address, a name of this machine for itself, or a known name."""
    found = _HOST.fullmatch(header)
    if found is None:
        return False
    host = found[1].strip("[]").lower().removesuffix(".")
    if _is_address(host) or host == "localhost" or host.endswith(".localhost"):
        return True
    return "*" in known or host in known or any(f"*{host[place:]}" in known for place in _dots(host))


def _dots(host: str) -> list[int]:
    return [place for place, letter in enumerate(host) if letter == "."]


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
