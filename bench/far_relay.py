"""Distance in front of a real store: requests pass at once, answers come later by as many seconds as it is told.

`python -m bench.far_relay SECONDS PORT_OF_THE_STORE` prints two ports: that of the relay, and one that tells whoever
connects what has passed since somebody asked last. A process of its own, so that its work is not that of the client.
"""

import asyncio
import json
import sys
import time
from dataclasses import asdict, dataclass

_BUFFER_BYTES = 1024 * 1024
# Less than this is no block but a cfg, a lock or a question.
_LARGE_BYTES = 64 * 1024


@dataclass
class Passed:
    """Requests with large bodies: how much, from the first one's arrival to the last one's answer."""

    large_bytes: int = 0
    first: float = 0.0
    last: float = 0.0


class Towards(asyncio.BufferedProtocol):
    """One direction of one connection."""

    def __init__(self, passed: list[Passed]) -> None:
        self.passed = passed
        self.other: asyncio.WriteTransport | None = None
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self.transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if isinstance(transport, asyncio.Transport):
            self.transport = transport

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self.pass_on(bytes(self._buffer[:nbytes]))

    def pass_on(self, piece: bytes) -> None:
        raise NotImplementedError

    def connection_lost(self, _error: Exception | None) -> None:
        if self.other is not None:
            self.other.close()

    # What the other side does not take yet is not read here: a store that is slow must look slow.
    def pause_writing(self) -> None:
        if isinstance(self.other, asyncio.ReadTransport):
            self.other.pause_reading()

    def resume_writing(self) -> None:
        if isinstance(self.other, asyncio.ReadTransport):
            self.other.resume_reading()


class FromStore(Towards):
    def __init__(self, passed: list[Passed], seconds: float, client: "FromClient") -> None:
        super().__init__(passed)
        self._seconds, self._client = seconds, client

    def pass_on(self, piece: bytes) -> None:
        asyncio.get_running_loop().call_later(self._seconds, self._write, piece)

    def _write(self, piece: bytes) -> None:
        if self.other is not None and not self.other.is_closing():
            self.other.write(piece)
        self._client.answered()


class FromClient(Towards):
    def __init__(self, passed: list[Passed], seconds: float, port: int) -> None:
        super().__init__(passed)
        self._seconds, self._port = seconds, port
        self._came, self._began = 0, 0.0
        self._waiting: list[bytes] = []
        self._opening: asyncio.Task[None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._opening = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        loop = asyncio.get_running_loop()
        answers = FromStore(self.passed, self._seconds, self)
        answers.other = self.transport
        store, _ = await loop.create_connection(lambda: answers, "127.0.0.1", self._port)
        self.other = store
        store.writelines(self._waiting)

    def pass_on(self, piece: bytes) -> None:
        self._began = self._began or time.monotonic()
        self._came += len(piece)
        if self.other is None:
            self._waiting.append(piece)
        else:
            self.other.write(piece)

    def answered(self) -> None:
        """The request is over; if it was large it counts."""
        if self._came > _LARGE_BYTES:
            passed = self.passed[0]
            passed.large_bytes += self._came
            passed.first = min(passed.first or self._began, self._began)
            passed.last = time.monotonic()
        self._came, self._began = 0, 0.0


async def _serve(seconds: float, store: int) -> None:
    passed, loop = [Passed()], asyncio.get_running_loop()

    async def tell(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(json.dumps(asdict(passed[0])).encode())
        passed[0] = Passed()
        writer.close()

    relay = await loop.create_server(lambda: FromClient(passed, seconds, store), "127.0.0.1", 0)
    teller = await asyncio.start_server(tell, "127.0.0.1", 0)
    print(*(server.sockets[0].getsockname()[1] for server in (relay, teller)), flush=True)
    await relay.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), int(sys.argv[2])))
