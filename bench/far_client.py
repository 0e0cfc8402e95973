"""The client of stores alone: puts what a backup of an image would send, with nothing around it.

`python -m bench.far_client ENDPOINT IMAGE THREADS PATH [bare]`: a process of its own, because the memory that it takes
would count as that of a mover started beside it. With `bare` the bodies are not ready before: each thread reads, hashes
and compresses what it puts, which is what the machine leaves to any backup.
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


def put_all(endpoint: str, image: Path, threads: int, *, path: str, bare: bool) -> None:
    handle = os.open(image, os.O_RDONLY)
    made: list[Callable[[], bytes | None]] = [
        partial(body_at, handle, offset) for offset in range(0, image.stat().st_size, BLOCK)
    ]
    if not bare:
        made = [partial(bytes, body) for make in made if (body := make()) is not None]
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
    put_all(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]), path=sys.argv[4], bare=sys.argv[5:] == ["bare"])
