"""Distance for tests: a relay in front of a real server that passes on every request later by as much as you say.

Answers come back as they are. So each request takes that much longer, and many of them at once do not wait for each
other, as with a store on another continent. The line can also get slow, hang, or forget its connections, at once or
in the middle of the work: when so many requests have passed.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit


class Distance:
    """A relay on a free port of this machine, in a thread of its own. Use as a context manager."""

    def __init__(self, server: str, *, seconds: float = 0) -> None:
        self._server = urlsplit(server)
        self.seconds = seconds
        """How much later each piece of a request is passed on."""
        self.bytes_per_second: float | None = None
        """Of each connection, either way; None: as fast as it comes."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._door: asyncio.Server | None = None
        self.url = ""
        self.requests = 0
        """How many pieces of requests have come: at least one for each."""
        self._then: dict[int, Callable[[], None]] = {}
        self._flows = asyncio.Event()
        self._flows.set()
        self._age = 0  # connections of an earlier age are dead

    def __enter__(self) -> "Distance":
        self._thread.start()
        opening = asyncio.run_coroutine_threadsafe(asyncio.start_server(self._relay, "127.0.0.1", 0), self._loop)
        self._door = opening.result()
        self.url = f"http://127.0.0.1:{self._door.sockets[0].getsockname()[1]}"
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self._end(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def after(self, requests: int, then: Callable[[], None]) -> threading.Event:
        """Let this happen when so many more pieces of requests have come; the event says that it has."""
        happened = threading.Event()

        def both() -> None:
            then()
            happened.set()

        self._then[self.requests + requests] = both
        return happened

    def hang(self) -> None:
        """From now on nothing passes, and nobody is told."""
        self._loop.call_soon_threadsafe(self._flows.clear)

    def forget_connections(self) -> None:
        """Nothing passes on the connections that there are; new ones are as good as ever."""
        self._age += 1

    def mend(self) -> None:
        """The line is as it was at first; what hung in it arrives now."""
        self._then.clear()
        self.seconds, self.bytes_per_second = 0.0, None
        self._loop.call_soon_threadsafe(self._flows.set)

    async def _end(self) -> None:
        assert self._door is not None  # noqa: S101  # it was entered
        self._door.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _relay(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(self._server.hostname, self._server.port)
        age = self._age
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on(from_client, to_server, age, self._request_came))
                both.create_task(self._pass_on(from_server, to_client, age))
        except* (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            to_server.close()
            to_client.close()

    async def _request_came(self) -> None:
        self.requests += 1
        if then := self._then.pop(self.requests, None):
            then()
        if self.seconds:
            await asyncio.sleep(self.seconds)

    async def _pass_on(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        age: int,
        came: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        while piece := await reader.read(65536):
            if came:
                await came()
            if self.bytes_per_second:
                await asyncio.sleep(len(piece) / self.bytes_per_second)
            await self._flows.wait()
            if age != self._age:
                continue  # swallowed
            writer.write(piece)
            await writer.drain()
        writer.close()
