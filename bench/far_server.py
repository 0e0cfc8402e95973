"""A store that is far away: speaks enough of S3 for a backup, and lets every request wait before it answers.

Cheap on purpose, so that it is never what limits: large bodies are counted and thrown away, small ones (cfgs and
locks) are kept. `python -m bench.far_server SECONDS [BYTES]` prints its port; `GET /_seen` tells what it has seen.
With BYTES it takes no more than so many in a second, from all connections together, as if the line to it were narrow.
"""

import asyncio
import json
import math
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from email.utils import formatdate
from urllib.parse import parse_qs, unquote
from xml.sax.saxutils import escape

_KEPT_BYTES = 64 * 1024
_BUFFER_BYTES = 1024 * 1024
_ABSENT = b"<Error><Code>NoSuchKey</Code></Error>"
_PRESENT = b"<Error><Code>PreconditionFailed</Code></Error>"


@dataclass
class Bucket:
    """What was put, and when the large bodies came."""

    sizes: dict[str, int] = field(default_factory=dict)
    bodies: dict[str, bytes] = field(default_factory=dict)
    requests: dict[str, int] = field(default_factory=dict)
    large_bytes: int = 0
    first: float = 0.0
    last: float = 0.0

    def put(self, key: str, size: int, body: bytes, *, began: float, only_if_absent: bool) -> tuple[int, bytes]:
        if only_if_absent and key in self.sizes:
            return 412, _PRESENT
        self.sizes[key] = size
        if size <= _KEPT_BYTES:
            self.bodies[key] = body
        else:
            self.large_bytes += size
            self.first = self.first or began
        return 200, b""

    def get(self, key: str) -> tuple[int, bytes]:
        return (200, self.bodies.get(key, b"")) if key in self.sizes else (404, _ABSENT)

    def delete(self, key: str) -> tuple[int, bytes]:
        self.sizes.pop(key, None)
        self.bodies.pop(key, None)
        return 204, b""

    def listing(self, query: Mapping[str, list[str]]) -> tuple[int, bytes]:
        """All in one page: what a bench puts is not much."""
        prefix, delimiter = query.get("prefix", [""])[0], query.get("delimiter", [""])[0]
        found, folders = [], set()
        for key in sorted(name for name in self.sizes if name.startswith(prefix)):
            folder, cut, _ = key[len(prefix) :].partition(delimiter) if delimiter else ("", "", "")
            if cut:
                folders.add(f"{prefix}{folder}{delimiter}")
            else:
                found.append(key)
        objects = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{self.sizes[key]}</Size><ETag>e</ETag>"
            "<LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents>"
            for key in found
        )
        prefixes = "".join(
            f"<CommonPrefixes><Prefix>{escape(one)}</Prefix></CommonPrefixes>" for one in sorted(folders)
        )
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{objects}{prefixes}</ListBucketResult>"
        return 200, text.encode()

    def seen(self) -> tuple[int, bytes]:
        """What was seen since the last time somebody asked; objects stay."""
        told = {
            "requests": self.requests,
            "large_bytes": self.large_bytes,
            "moving_seconds": self.last - self.first,
        }
        self.requests, self.large_bytes, self.first, self.last = {}, 0, 0.0, 0.0
        return 200, json.dumps(told).encode()


@dataclass
class Line:
    """What all connections share. Bytes that came too early are paid for by not listening for a while."""

    bytes_per_second: float
    free_at: float = 0.0

    def take(self, count: int) -> float:
        """Seconds until the next bytes may come."""
        now = time.monotonic()
        self.free_at = max(self.free_at, now) + count / self.bytes_per_second
        return self.free_at - now


class Connection(asyncio.BufferedProtocol):
    """One connection; HTTP/1.1, one request after the other."""

    def __init__(self, bucket: Bucket, delay: float, line: Line) -> None:
        self._bucket, self._delay, self._line = bucket, delay, line
        self._buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._head = b""
        self._request: tuple[str, str, dict[str, str]] | None = None
        self._body = b""
        self._missing = 0
        self._began = 0.0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def get_buffer(self, _sizehint: int) -> memoryview:
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        self._wait_for_the_line(nbytes)
        if self._request is not None:
            self._take_body(self._buffer[:nbytes])
            return
        self._head += bytes(self._buffer[:nbytes])
        head, end, rest = self._head.partition(b"\r\n\r\n")
        if not end:
            return
        self._began = time.monotonic()
        first, *lines = head.decode().split("\r\n")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
        method, target, _ = first.split(" ")
        self._request, self._head, self._body = (method, target, headers), b"", b""
        self._missing = int(headers.get("content-length", "0"))
        self._take_body(memoryview(rest))

    def _wait_for_the_line(self, count: int) -> None:
        seconds = self._line.take(count)
        if seconds > 0 and isinstance(self._transport, asyncio.ReadTransport):
            self._transport.pause_reading()
            asyncio.get_running_loop().call_later(seconds, self._transport.resume_reading)

    def _take_body(self, part: memoryview) -> None:
        if self._request is None:
            return
        self._missing -= len(part)
        if int(self._request[2].get("content-length", "0")) <= _KEPT_BYTES:
            self._body += bytes(part)
        if self._missing <= 0:
            request, self._request = self._request, None
            delay = 0 if request[1] == "/_seen" else self._delay
            asyncio.get_running_loop().call_later(delay, self._answer, *request)

    def _answer(self, method: str, target: str, headers: dict[str, str]) -> None:
        path, _, query = target.partition("?")
        key = unquote(path).lstrip("/").partition("/")[2]
        size = int(headers.get("content-length", "0"))
        status, body = self._carry_out(method, path, key, query, headers)
        length = self._bucket.sizes.get(key, 0) if method == "HEAD" and status == 200 else len(body)
        words = (
            f"HTTP/1.1 {status} Said\r\nContent-Length: {length}\r\nETag: e\r\n"
            f"Last-Modified: {formatdate(usegmt=True)}\r\n\r\n"
        )
        if size > _KEPT_BYTES:
            self._bucket.last = time.monotonic()
        if isinstance(self._transport, asyncio.WriteTransport):
            self._transport.write(words.encode() + (b"" if method == "HEAD" else body))

    def _carry_out(self, method: str, path: str, key: str, query: str, headers: dict[str, str]) -> tuple[int, bytes]:
        if path == "/_seen":
            return self._bucket.seen()
        kind = "LIST" if "list-type" in query else method
        self._bucket.requests[kind] = self._bucket.requests.get(kind, 0) + 1
        match kind:
            case "PUT":
                size, condition = int(headers["content-length"]), "if-none-match" in headers
                return self._bucket.put(key, size, self._body, began=self._began, only_if_absent=condition)
            case "LIST":
                return self._bucket.listing(parse_qs(query))
            case "DELETE":
                return self._bucket.delete(key)
            case _:
                return self._bucket.get(key)


async def _serve(delay: float, line: Line) -> None:
    bucket = Bucket()
    loop = asyncio.get_running_loop()
    server = await loop.create_server(lambda: Connection(bucket, delay, line), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), Line(float(sys.argv[2]) if sys.argv[2:] else math.inf)))
