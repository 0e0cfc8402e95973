"""What comes on a mover's standard input: its job, then orders, then the end, which means that the server is gone."""

import contextlib
import threading
from collections.abc import Callable

from tidegate.disk.messages import LineReader
from tidegate.errors import InvalidInput
from tidegate.model.transfers.mover_orders import BandwidthOrder, GoOrder, read_order

TellBandwidth = Callable[[int | None, int | None], None]


class MoverInput:
    """Reads lines from a handle, first in the caller's thread, then in one of its own."""

    def __init__(self, handle: int) -> None:
        self._lines = LineReader(handle)
        self.cancelled = threading.Event()
        self._may_go = threading.Event()

    def line(self) -> bytes:
        """Return the next line; empty at the end."""
        return self._lines.line() or b""

    def obey(self, tell_bandwidth: TellBandwidth) -> None:
        """From now on orders are followed as they come, by a thread that ends with the process."""
        threading.Thread(target=self._obey, args=(tell_bandwidth,), daemon=True, name="orders").start()

    def stop(self) -> None:
        """As if the order had come: whoever waits goes on, and finds the work cancelled."""
        self.cancelled.set()
        self._may_go.set()

    def wait_for_go(self) -> None:
        """Return when bytes may move, or when nobody wants them any more."""
        self._may_go.wait()

    def _obey(self, tell_bandwidth: TellBandwidth) -> None:
        while (line := self._lines.line()) is not None:
            with contextlib.suppress(InvalidInput):  # an order of a server that knows more than we do
                match read_order(line):
                    case GoOrder():
                        self._may_go.set()
                    case BandwidthOrder(upload=upload, download=download):
                        tell_bandwidth(upload, download)
        self.stop()
