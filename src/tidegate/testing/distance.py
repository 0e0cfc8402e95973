"""Distance for tests: a relay in front of a real server that passes on every request later by as much as you say.

Answers come back as they are. So each request takes that much longer, and many of them at once do not wait for each
other, as with a store on another continent.
"""

import asyncio
import threading
from urllib.parse import urlsplit


class Distance:
    """A relay on a free port of this machine, in a thread of its own. Use as a context manager."""

    def __init__(self, server: str, *, seconds: float) -> None:
        self._server = urlsplit(server)
        self._seconds = seconds
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._door: asyncio.Server | None = None
        self.url = ""
        self.requests = 0
        """How many pieces of requests have passed: at least one for each."""

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

    async def _end(self) -> None:
        assert self._door is not None  # noqa: S101  # it was entered
        self._door.close()
        others = [task for task in asyncio.all_tasks() if task is not asyncio.current_task()]
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _relay(self, from_client: asyncio.StreamReader, to_client: asyncio.StreamWriter) -> None:
        from_server, to_server = await asyncio.open_connection(self._server.hostname, self._server.port)
        try:
            async with asyncio.TaskGroup() as both:
                both.create_task(self._pass_on(from_client, to_server, self._seconds))
                both.create_task(self._pass_on(from_server, to_client, 0))
        except* (ConnectionError, asyncio.CancelledError):
            pass
        finally:
            to_server.close()
            to_client.close()

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seconds: float) -> None:
        while piece := await reader.read(65536):
            if seconds:
                self.requests += 1
                await asyncio.sleep(seconds)
            writer.write(piece)
            await writer.drain()
        writer.close()
