"""The client of stores alone: puts an image, with nothing around it.

`python -m bench.far_client ENDPOINT IMAGE THREADS PATH HOW`: a process of its own, because the memory that it takes
would count as that of a mover started beside it. HOW it comes by the bodies:

- `image`: they are the blocks of the image as they are, in memory before the first is put;
- `packed`: they are what a backup sends of it, without zeros and compressed, and also made before;
- `bare`: each thread reads, hashes and compresses what it puts, which is what the machine leaves to any backup.
"""

import hashlib
import os
import sys
import threading
from collections.abc import Callable, Mapping
from datetime import timedelta
from functools import partial
from pathlib import Path

import obstore

from bench.scale import BLOCK
from tidegate.format.compression import Compression, compress
from tidegate.objects.place import read_place
from tidegate.objects.remote_clients import connect

_ZEROS = bytes(BLOCK)


def credentials_of(endpoint: str) -> Mapping[str, str]:
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


def put_all(endpoint: str, image: Path, threads: int, *, path: str, how: str) -> None:
    made = bodies_of(image, how)
    place = read_place("s3", f"bucket@us-east-1/{path}/")
    client = connect(place, dict(credentials_of(endpoint)), request_timeout=timedelta(seconds=60)).single
    row, lock = iter(enumerate(made)), threading.Lock()

    def work() -> None:
        while True:
            with lock:
                number, make = next(row, (0, None))
            if make is None:
                return
            if (body := make()) is not None:
                obstore.put(client, place.key(f"{number}.blk"), body, use_multipart=False, mode="create")

    crew = [threading.Thread(target=work) for _ in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()


if __name__ == "__main__":
    put_all(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), path=sys.argv[4], how=sys.argv[5])
