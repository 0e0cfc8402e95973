"""What the machine reaches alone: the same bytes through the same libraries, with nothing around it."""

import hashlib
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path

import lz4.frame

from bench.scale import BLOCK
from tidegate.disk.direct_writer import DirectWriter
from tidegate.format.compression import Compression, compress

# More than there are cores: while one waits for the disk, others compute.
THREADS = 4


def limit_of_first(image: Path, place: Path) -> float:
    """Read, hash, compress, write and sync the same bytes with nothing around it."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    zeros = bytes(BLOCK)
    os.sync()

    def do(handle: int, offset: int) -> None:
        block = os.pread(handle, BLOCK, offset)
        if block == zeros:
            return
        name = hashlib.sha512(block).hexdigest()[:64]
        body = compress(block, Compression.LZ4)
        with (place / name).open("wb", buffering=0) as file, DirectWriter(file.fileno()) as writer:
            writer.write_at(body, 0)

    took = _on_all_cores(image, do, then=os.sync)
    shutil.rmtree(place)
    return took


def limit_of_reading(image: Path) -> float:
    """Read and hash whatever is not zeros."""
    zeros = bytes(BLOCK)

    def do(handle: int, offset: int) -> None:
        block = os.pread(handle, BLOCK, offset)
        if block != zeros:
            hashlib.sha512(block).digest()

    return _on_all_cores(image, do)


def limit_of_restore(place: Path, image: Path) -> float:
    """Read the stored blocks, decompress, hash, write to one file and sync it."""
    blocks = sorted((place / "store").rglob("*.blk"))
    target = place / "limit-back"
    target.unlink(missing_ok=True)
    os.sync()
    row, lock = iter(enumerate(blocks)), threading.Lock()
    began = time.monotonic()
    out = os.open(target, os.O_WRONLY | os.O_CREAT)
    writer = DirectWriter(out)

    def work() -> None:
        while True:
            with lock:
                index, path = next(row, (0, None))
            if path is None:
                return
            block = lz4.frame.decompress(path.read_bytes())
            hashlib.sha512(block).digest()
            writer.write_at(block, index * BLOCK)

    _threads(work)
    os.truncate(target, image.stat().st_size)
    os.fsync(out)
    took = time.monotonic() - began
    writer.close()
    os.close(out)
    target.unlink()
    return took


def _on_all_cores(image: Path, do: Callable[[int, int], None], then: Callable[[], None] = lambda: None) -> float:
    offsets, lock = iter(range(0, image.stat().st_size, BLOCK)), threading.Lock()
    handle = os.open(image, os.O_RDONLY)
    began = time.monotonic()

    def work() -> None:
        while True:
            with lock:
                offset = next(offsets, None)
            if offset is None:
                return
            do(handle, offset)

    _threads(work)
    then()
    took = time.monotonic() - began
    os.close(handle)
    return took


def _threads(work: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for _ in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
