"""What a mover is told after its job, one JSON line each on its standard input.

A mover that said `ready` waits for `go`. Orders that it does not know are left aside, so that a newer server can talk
to an older mover; the end of its input is an order too: stop.
"""

from dataclasses import dataclass
from typing import Literal

from tidegate.model.plain import Plain, read_json


@dataclass(frozen=True, kw_only=True)
class GoOrder(Plain):
    """Begin to move bytes."""

    type: Literal["go"] = "go"


@dataclass(frozen=True, kw_only=True)
class BandwidthOrder(Plain):
    """From now on at most so many bytes per second. Absent: no limit."""

    type: Literal["bandwidth"] = "bandwidth"
    upload: int | None = None
    download: int | None = None


MoverOrder = GoOrder | BandwidthOrder
_ORDERS: dict[str, type[MoverOrder]] = {"go": GoOrder, "bandwidth": BandwidthOrder}


def read_order(line: bytes) -> MoverOrder:
    """What `to_json` of an order wrote; raises InvalidInput."""
    return read_json(_ORDERS, line, told_by="type")
