"""The volumes that are backed up: the same bytes in every run."""

import os
import random
from itertools import count
from pathlib import Path

from bench.scale import BLOCK, MIB

_NUMBERS = count(1)


def make_image(path: Path, size: int) -> None:
    """30 % zeros (written, no holes), 30 % random, 40 % compressible, in runs of a few blocks."""
    chance = random.Random(1)
    with path.open("wb") as file:
        while file.tell() < size:
            file.write(content(chance.choices("zrc", (30, 30, 40))[0], chance))
    os.sync()


def content(kind: str, chance: random.Random) -> bytes:
    if kind == "z":
        return bytes(BLOCK)
    if kind == "r":
        return chance.randbytes(BLOCK)
    # A random half beside a repeated one, 512 bytes at a time: about 2 : 1.
    half, same = chance.randbytes(BLOCK // 2), chance.randbytes(512)
    return b"".join(half[at : at + 512] + same for at in range(0, BLOCK // 2, 512))


def change(path: Path, size: int, seed: int, *, percent: int = 1) -> None:
    chance = random.Random(1000 + seed)
    with path.open("r+b") as file:
        for offset in chance.sample(range(0, size, BLOCK), max(1, size * percent // BLOCK // 100)):
            file.seek(offset)
            file.write(chance.randbytes(BLOCK))
    os.sync()


def make_tree(path: Path, files: int) -> None:
    """2 GiB in 100,000 files: mostly small, a few large; half of the bytes compressible."""
    chance = random.Random(2)
    pool = (
        chance.randbytes(32 * MIB) + b"".join(b"line %d of a log\n" % number for number in range(2 * MIB))[: 32 * MIB]
    )
    for number in range(files):
        directory = path / f"{number // 5000:03}" / f"{number // 100 % 50:02}"
        if number % 100 == 0:
            directory.mkdir(parents=True)
        length = 10 * MIB if number % 1000 == 0 else int(chance.expovariate(1 / 10_500))
        start = chance.randrange(len(pool) - length)
        (directory / f"file-{number}").write_bytes(pool[start : start + length])
    os.sync()


def set_aside(path: Path) -> None:
    """Make room under this name. Nothing is deleted while a bench runs: for half a minute after many deletions ext4
    makes new files many times slower."""
    if path.exists():
        path.rename(path.with_name(f"{path.name}-aside-{next(_NUMBERS)}"))
    os.sync()
