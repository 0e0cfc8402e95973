"""What the machine reaches alone: the same bytes through the same libraries, with nothing around it."""

import os
import shutil
import threading
import time
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import lz4.frame

from bench.scale import BLOCK
from tidegate.disk.direct_writer import DirectWriter
from tidegate.format.blocks.checksum import checksum, checksums, side_by_side
from tidegate.format.blocks.compression import Compression, compress

# More than there are cores: while one waits for the disk, others compute.
THREADS = 4


def limit_of_first(image: Path, place: Path) -> float:
    """Read, hash, compress, write and sync the same bytes with nothing around it."""
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir()
    os.sync()

    def do(blocks: list[bytes]) -> None:
        names = checksums(blocks)
        while blocks:
            body = compress(blocks.pop(), Compression.LZ4)
            with (place / names.pop()).open("wb", buffering=0) as file, DirectWriter(file.fileno()) as writer:
                writer.write_at(body, 0)

    took = _on_all_cores(image, do, at_once=side_by_side(), then=os.sync)
    shutil.rmtree(place)
    return took


def limit_of_reading(image: Path) -> float:
    """Read and hash whatever is not zeros."""
    return _on_all_cores(image, checksums, at_once=side_by_side())


def limit_of_hashlib(image: Path) -> float:
    """The same, one block after the other."""
    return _on_all_cores(image, lambda blocks: [checksum(block) for block in blocks], at_once=1)


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
                some = [*islice(row, side_by_side())]
            if not some:
                return
            bodies = [lz4.frame.decompress(path.read_bytes()) for _, path in some]
            checksums(bodies)
            for (index, _), block in zip(some, bodies, strict=True):
                writer.write_at(block, index * BLOCK)

    _threads(work)
    os.truncate(target, image.stat().st_size)
    os.fsync(out)
    took = time.monotonic() - began
    writer.close()
    os.close(out)
    target.unlink()
    return took


def _on_all_cores(
    image: Path, do: Callable[[list[bytes]], object], *, at_once: int, then: Callable[[], None] = lambda: None
) -> float:
    """With so many blocks that are not zeros at once."""
    offsets, lock = iter(range(0, image.stat().st_size, BLOCK)), threading.Lock()
    handle, zeros = os.open(image, os.O_RDONLY), bytes(BLOCK)
    began = time.monotonic()

    def work() -> None:
        blocks = []
        while True:
            with lock:
                offset = next(offsets, None)
            if offset is not None and (block := os.pread(handle, BLOCK, offset)) != zeros:
                blocks.append(block)
            if blocks and (offset is None or len(blocks) == at_once):
                do(blocks)
                blocks = []
            if offset is None:
                return

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
