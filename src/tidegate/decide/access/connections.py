"""How many connections clients may hold, and how long one may take: so that strangers cannot keep the others out."""

import ipaddress
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tidegate.decide.access.forwarded import Networks, is_within

# One holder of an IPv6 network has all addresses of it.
_IPV6_NETWORK = 64
# To close at once would reset the connection under a client that still sends: it would never read why.
_REFUSED_SECONDS = 2
# A client that reads takes something of its answer in this time, also over a slow line.
_LEFT_SECONDS = 3


@dataclass(frozen=True)
class ConnectionLimits:
    """What a server grants to connections; times in seconds."""

    most: int
    """How many there may be at once, of all clients together."""
    header: float = 15
    """Until the headers of a request have arrived."""
    idle: float = 15
    """Between two requests."""
    request: float = 300
    """From the first byte of a request until its answer begins."""
    progress: float = 30
    """Without a byte of a body that the client sends, or of an answer that it takes."""
    trusted_proxies: Networks = ()
    """One of these holds connections for many clients: it may have all."""

    @property
    def most_of_one(self) -> int:
        """How many one address may hold: never all of them."""
        return max(1, self.most // 2)

    def share_of(self, address: str) -> int:
        """How many this address may hold."""
        return self.most if is_within(address, self.trusted_proxies) else self.most_of_one


class Phase(StrEnum):
    """What a connection does."""

    IDLE = "idle"
    HEADERS = "headers"
    BODY = "body"
    WORK = "work"
    ANSWER = "answer"
    REFUSED = "refused"
    """It has its answer, and may still send what the server no longer reads."""

    @property
    def waits_for_request(self) -> bool:
        """Whether the server has no whole request of it: to close it loses nothing that was asked for."""
        return self in {Phase.IDLE, Phase.HEADERS, Phase.BODY, Phase.REFUSED}


@dataclass(frozen=True)
class ConnectionState:
    """One connection as it is now."""

    phase: Phase
    since: float
    """When it was opened, or its request began, or its last answer ended."""
    moved_at: float
    """When the client last sent something, or took something of an answer."""


def is_overdue(state: ConnectionState, now: float, limits: ConnectionLimits) -> bool:
    """Whether the server shall wait for this connection no longer."""
    age, still = now - state.since, now - state.moved_at
    match state.phase:
        case Phase.IDLE:
            return age > limits.idle
        case Phase.HEADERS:
            return age > limits.header
        case Phase.BODY:
            return age > limits.request or still > limits.progress
        case Phase.WORK:
            return age > limits.request
        case Phase.ANSWER:
            return still > limits.progress
        case Phase.REFUSED:
            return age > _REFUSED_SECONDS


def first_to_go(states: Sequence[ConnectionState], now: float) -> int | None:
    """Which of these makes room for a new one; None if the server works for all of them.

    First the oldest without a whole request, then the one that has left its answer untouched for the longest time:
    strangers who ask for a lot and read nothing keep others out no longer than that.
    """
    waiting = [(state.since, place) for place, state in enumerate(states) if state.phase.waits_for_request]
    left = [
        (state.moved_at, place)
        for place, state in enumerate(states)
        if state.phase is Phase.ANSWER and now - state.moved_at > _LEFT_SECONDS
    ]
    return min(waiting or left, default=(0.0, None))[1]


def source_of(address: str) -> str:
    """Which client an address counts for: itself, or its IPv6 network, whose addresses all belong to one holder."""
    try:
        parsed = ipaddress.ip_address(address.partition("%")[0])
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv4Address):
        return str(parsed)
    if parsed.ipv4_mapped:
        return str(parsed.ipv4_mapped)
    return str(ipaddress.ip_network((parsed, _IPV6_NETWORK), strict=False))
