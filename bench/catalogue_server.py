"""A far store with a million backups that takes no room: lists and reads are answered from a formula, after a while.

`python -m bench.catalogue_server SECONDS VOLUMES BACKUPS` prints its port. The bucket `indexed` has index objects, the
bucket `plain` has none. `GET /_seen` tells what was asked since the last time.
"""

import asyncio
import json
import re
import sys
from urllib.parse import parse_qs, unquote

from bench.catalogue_samples import INDEX, Formula

_ABSENT = b"<Error><Code>NoSuchKey</Code></Error>"
_MODIFIED = "Thu, 01 Jan 2026 00:00:00 GMT"
_CFG = re.compile(r"(.+)/backups/backup_backup-([0-9a-f]{8})([0-9a-f]{8})\.cfg")


class FarCatalogue:
    """What the server knows: the places of the volumes, their indexes, and what it was asked."""

    def __init__(self, formula: Formula) -> None:
        self._formula = formula
        self._dirs = formula.volume_dirs()
        self._below: dict[str, list[str]] = {}
        for path in self._dirs:
            parts = path.split("/")
            for depth in range(2, len(parts)):
                folder, inner = "/".join(parts[:depth]) + "/", "/".join(parts[: depth + 1]) + "/"
                known = self._below.setdefault(folder, [])
                if not known or known[-1] != inner:
                    known.append(inner)
        self._below = {folder: sorted(set(inner)) for folder, inner in self._below.items()}
        # Made before anybody waits for one: they take longer to make than to send.
        self._indexes = [formula.index(volume) for volume in range(formula.volumes)]
        self.seen: dict[str, int] = {}

    def answer(self, bucket: str, key: str, query: dict[str, list[str]]) -> tuple[int, bytes, str]:
        """Status, body and tag."""
        if "list-type" in query:
            self._note("list")
            return 200, self._listing(bucket, query["prefix"][0]), ""
        self._note("cfg" if "/backup_" in key else "index" if key.endswith(INDEX) else "other")
        folder, _, name = key.rpartition("/")
        if found := _CFG.fullmatch(key):
            volume, backup = int(found[2], 16), int(found[3], 16)
            if found[1] in self._dirs and backup < self._formula.backups:
                return 200, self._formula.cfg(volume, backup), self._formula.etag(volume, backup)
        if name == "volume.cfg" and folder in self._dirs:
            return 200, self._formula.volume_cfg(self._dirs[folder]), "volume"
        if name == INDEX and bucket == "indexed" and folder.removesuffix("/backups") in self._dirs:
            return 200, self._indexes[self._dirs[folder.removesuffix("/backups")]], "index"
        return 404, _ABSENT, ""

    def _note(self, kind: str) -> None:
        self.seen[kind] = self.seen.get(kind, 0) + 1

    def _listing(self, bucket: str, prefix: str) -> bytes:
        folder = prefix.rstrip("/")
        objects: list[tuple[str, int, str]] = []
        prefixes = self._below.get(prefix, [])
        if folder in self._dirs:
            objects = [(f"{folder}/volume.cfg", len(self._formula.volume_cfg(self._dirs[folder])), "volume")]
            prefixes = [f"{folder}/backups/", f"{folder}/blocks/"]
        elif folder.removesuffix("/backups") in self._dirs:
            objects = self._backups(bucket, folder, self._dirs[folder.removesuffix("/backups")])
        written = "".join(
            f"<Contents><Key>{key}</Key><LastModified>2026-01-01T00:00:00.000Z</LastModified>"
            f"<ETag>&quot;{etag}&quot;</ETag><Size>{size}</Size></Contents>"
            for key, size, etag in objects
        )
        folders = "".join(f"<CommonPrefixes><Prefix>{one}</Prefix></CommonPrefixes>" for one in prefixes)
        return f"<ListBucketResult><IsTruncated>false</IsTruncated>{written}{folders}</ListBucketResult>".encode()

    def _backups(self, bucket: str, folder: str, volume: int) -> list[tuple[str, int, str]]:
        formula = self._formula
        size = len(formula.cfg(volume, 0)) - len("1000")
        objects = [
            (
                f"{folder}/backup_{formula.backup_name(volume, backup)}.cfg",
                size + len(str(1000 + backup)),
                formula.etag(volume, backup),
            )
            for backup in range(formula.backups)
        ]
        return [*objects, (f"{folder}/{INDEX}", 50_000, "index")] if bucket == "indexed" else objects


class Connection(asyncio.Protocol):
    """One connection; HTTP/1.1, one request after the other, none with a body."""

    def __init__(self, store: FarCatalogue, delay: float) -> None:
        self._store, self._delay = store, delay
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            first, *lines = head.decode().split("\r\n")
            headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
            method, target, _ = first.split(" ")
            delay = 0 if target == "/_seen" else self._delay
            asyncio.get_running_loop().call_later(delay, self._answer, method, target, headers)

    def _answer(self, method: str, target: str, headers: dict[str, str]) -> None:
        path, _, query = target.partition("?")
        if path == "/_seen":
            status, body, etag = 200, json.dumps(self._store.seen).encode(), ""
            self._store.seen = {}
        else:
            bucket, _, key = unquote(path).lstrip("/").partition("/")
            status, body, etag = self._store.answer(bucket, key, parse_qs(query, keep_blank_values=True))
        words = f'Content-Length: {len(body)}\r\nETag: "{etag}"\r\nLast-Modified: {_MODIFIED}\r\n'
        wanted = re.fullmatch(r"bytes=(\d+)-(\d+)", headers.get("range", ""))
        if wanted and status == 200:
            first, last, size = int(wanted[1]), min(int(wanted[2]), len(body) - 1), len(body)
            status, body = 206, body[first : last + 1]
            words = (
                f"Content-Length: {len(body)}\r\nContent-Range: bytes {first}-{last}/{size}\r\n"
                f'ETag: "{etag}"\r\nLast-Modified: {_MODIFIED}\r\n'
            )
        if isinstance(self._transport, asyncio.WriteTransport):
            self._transport.write(
                f"HTTP/1.1 {status} Said\r\n{words}\r\n".encode() + (b"" if method == "HEAD" else body)
            )


async def _serve(delay: float, formula: Formula) -> None:
    store = FarCatalogue(formula)
    server = await asyncio.get_running_loop().create_server(
        lambda: Connection(store, delay), "127.0.0.1", 0, backlog=4096
    )
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(_serve(float(sys.argv[1]), Formula(int(sys.argv[2]), int(sys.argv[3]))))
