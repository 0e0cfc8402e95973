"""How fast bytes may go to and come from stores: one promise, changed while work is under way."""

import threading
from typing import Protocol

from tidegate.ports.object_store import ObjectStore


class BandwidthLimits(Protocol):
    """The limits of one process, for all of its threads and stores together."""

    def set(self, *, upload: int | None, download: int | None) -> None:
        """Bytes per second from now on, also for whoever waits already; None: no limit."""
        ...

    def limited(self, objects: ObjectStore, stop: threading.Event) -> ObjectStore:
        """The same store within the limits. Who waits there raises WorkCancelled soon after `stop` is set."""
        ...
