import random

import pytest

from tidegate.objects.memory import MemoryObjects
from tidegate.testing.clock import ManualClock
from tidegate.testing.mover_bench import MoverBench

BLOCK = 2 * 1024 * 1024


@pytest.fixture
def clock():
    return ManualClock()


@pytest.fixture
def store(clock):
    return MemoryObjects(clock)


@pytest.fixture
def bench(store, clock):
    return MoverBench(store, clock=clock)


@pytest.fixture
def image(tmp_path):
    """A function that makes an image of blocks, each of them named by a letter; `-` is a hole."""

    def make(blocks, name="image"):
        path = tmp_path / name
        with path.open("wb") as file:
            for letter in blocks:
                if letter == "-":
                    file.seek(BLOCK, 1)
                else:
                    file.write(random.Random(letter).randbytes(64).ljust(BLOCK, letter.encode()))
            file.truncate(len(blocks) * BLOCK)
        return path

    return make
