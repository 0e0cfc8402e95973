"""The client of stores alone: puts what a backup of an image would send, with nothing around it.

`python -m bench.far_client ENDPOINT IMAGE THREADS PATH`: a process of its own, because the memory that it takes would
count as that of a mover started beside it.
"""

import sys
import threading
from collections.abc import Mapping, Sequence
from datetime import timedelta
from pathlib import Path

import obstore

from bench.scale import BLOCK
from tidegate.format.compression import Compression, compress
from tidegate.objects.place import read_place
from tidegate.objects.remote_clients import connect


def credentials_of(endpoint: str) -> Mapping[str, str]:
    return {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_ENDPOINTS": endpoint}


def bodies_of(image: Path) -> Sequence[bytes]:
    """What a backup sends of this image."""
    zeros, bodies = bytes(BLOCK), []
    with image.open("rb") as file:
        while block := file.read(BLOCK):
            if block != zeros:
                bodies.append(compress(block, Compression.LZ4))
    return bodies


def put_all(endpoint: str, bodies: Sequence[bytes], threads: int, *, path: str) -> None:
    place = read_place("s3", f"bucket@us-east-1/{path}/")
    client = connect(place, dict(credentials_of(endpoint)), request_timeout=timedelta(seconds=60)).single
    row, lock = iter(enumerate(bodies)), threading.Lock()

    def work() -> None:
        while True:
            with lock:
                number, body = next(row, (0, None))
            if body is None:
                return
            obstore.put(client, place.key(f"{number}.blk"), body, use_multipart=False, mode="create")

    crew = [threading.Thread(target=work) for _ in range(threads)]
    for thread in crew:
        thread.start()
    for thread in crew:
        thread.join()


if __name__ == "__main__":
    put_all(sys.argv[1], bodies_of(Path(sys.argv[2])), int(sys.argv[3]), path=sys.argv[4])
