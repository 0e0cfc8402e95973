"""The client of stores alone: puts an image, with nothing around it.

`python -m bench.far_client URL IMAGE THREADS HOW`, credentials as JSON on standard input: a process of its own, because
the memory that it takes would count as that of a mover started beside it. HOW it comes by the bodies:

- `image`: they are the blocks of the image as they are, in memory before the first is put;
- `packed`: they are what a backup sends of it, without zeros and compressed, and also made before;
- `bare`: each thread reads, hashes and compresses what it puts, which is what the machine leaves to any backup.
"""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, GenericError

from bench.scale import BLOCK
from tidegate.datapath.uploads.assembly_line import Crew, Row, work_in_line
from tidegate.format.blocks.compression import Compression, compress
from tidegate.objects.place import Place, read_place
from tidegate.objects.remote_clients import connect

if TYPE_CHECKING:
    from tidegate.objects.remote_clients import Client

_ZEROS = bytes(BLOCK)
_TRIES = 5


def credentials_of(endpoint: str) -> Mapping[str, str]:
    """Of our own server, which takes any."""
    return {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_ENDPOINTS": endpoint}


def body_at(handle: int, offset: int) -> bytes | None:
    """What a backup sends of this block; None for zeros, which are not sent."""
    block = os.pread(handle, BLOCK, offset)
    if block == _ZEROS:
        return None
    hashlib.sha512(block).digest()
    return compress(block, Compression.LZ4)


def bodies_of(image: Path, how: str) -> list[Callable[[], bytes | None]]:
    handle, offsets = os.open(image, os.O_RDONLY), range(0, image.stat().st_size, BLOCK)
    read = partial(os.pread, handle, BLOCK) if how == "image" else partial(body_at, handle)
    made: list[Callable[[], bytes | None]] = [partial(read, offset) for offset in offsets]
    return made if how == "bare" else [partial(bytes, body) for make in made if (body := make()) is not None]


@dataclass(frozen=True)
class Putter:
    """Puts bodies below one URL."""

    place: Place
    client: "Client"

    def put_all(self, row: Row[tuple[int, Callable[[], bytes | None]]]) -> None:
        for number, make in row:
            if (body := make()) is not None:
                self._put(f"{number}.blk", body)

    def _put(self, key: str, body: bytes) -> None:
        for tries_left in reversed(range(_TRIES)):
            try:
                obstore.put(self.client, self.place.key(key), body, use_multipart=False, mode="create")
            except AlreadyExistsError:
                return  # by a try that was answered with an error
            except GenericError:  # a real server answers so now and then
                if not tries_left:
                    raise
            else:
                return


def main(url: str, image: str, threads: str, how: str) -> None:
    place, bodies = read_place(*url.split("://", 1)), bodies_of(Path(image), how)
    client = connect(place, json.load(sys.stdin), request_timeout=timedelta(seconds=60)).single
    row, putter = Row(enumerate(bodies)), Putter(place, client)
    work_in_line(Crew(int(threads), lambda: putter.put_all(row), takes=row))


if __name__ == "__main__":
    main(*sys.argv[1:])
