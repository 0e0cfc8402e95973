"""Processes that make the small files of a tree, beside the one that fetches and checks their blocks.

    mover     reads the manifest, fetches, decompresses, compares checksums; makes directories, large files and links
    makers    open, write, set the time, close: a hundred thousand times

In one process both wait for the interpreter, at each of four short calls per file; in several they use several cores.
Blocks lie in shared memory, so that nothing is sent but names and places.
"""

import mmap
import os
import select
import signal
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tidegate.disk.messages import LineReader, write_all
from tidegate.errors import HelperLost
from tidegate.format.trees.batches import Pack
from tidegate.format.trees.pack_message import encode_pack
from tidegate.volumes.trees.maker_process import (
    ANSWERS,
    HEADER,
    NO_BLOCK,
    Finished,
    MakerFailed,
    PackDone,
    become_maker,
)
from tidegate.volumes.trees.writer import Notes, TreeWriter

# One that it works on, and one that is there when it is done with it.
PACKS_PER_MAKER = 2
# What is sent at once: a pack may have thousands of tiny files, and whoever cancels does not wait for all of them.
_MOST_FILES = 500
_BETWEEN_LOOKS_MS = 250


@dataclass
class _Maker:
    process: int
    orders: int
    answers: int
    slots: list[int] = field(default_factory=list)
    """What it has in hand, the oldest first; it answers in that order."""
    said: LineReader = field(init=False)

    def __post_init__(self) -> None:
        self.said = LineReader(self.answers)

    def stop_ordering(self) -> None:
        """It goes on with what it has, and then says goodbye."""
        if self.orders >= 0:
            os.close(self.orders)
            self.orders = -1

    def close(self) -> None:
        """Both ends of ours."""
        self.stop_ordering()
        os.close(self.answers)


class FileMakers:
    """Begins with a fork, so before any thread works with `writer`. Leaving it ends all of its processes, done or not.

    While it waits for them it calls `on_wait` now and then, which may raise. A maker's error is raised as it would have
    been in this process, one that was killed as HelperLost: by one of the next calls, at the latest by `finish`. So
    nothing is left out in silence. Without processes, or where the system allows none, it makes the files itself.
    """

    def __init__(self, writer: TreeWriter, *, processes: int, block_size: int, on_wait: Callable[[], None]) -> None:
        self._writer = writer
        self._block_size = block_size
        self._on_wait = on_wait
        self._shared = mmap.mmap(-1, max(1, processes * PACKS_PER_MAKER) * block_size)
        self._blocks = memoryview(self._shared)
        self._makers: list[_Maker] = []
        self._free = list(range(processes * PACKS_PER_MAKER))
        for _ in range(processes):
            self._begin()

    @property
    def processes(self) -> list[int]:
        """Their numbers."""
        return [maker.process for maker in self._makers]

    def write_pack(self, pack: Pack, block: bytes | None) -> None:
        """Have the files made. They are there when `finish` returns."""
        if not self._makers:
            self._writer.write_pack(pack, block)
            return
        for first in range(0, len(pack.files), _MOST_FILES):
            self._send(Pack(pack.offset, pack.files[first : first + _MOST_FILES]), block)

    def finish(self) -> None:
        """Wait until everything is made, and take over what the makers have to tell."""
        for maker in self._makers:
            maker.stop_ordering()
        for maker in self._makers:
            while (notes := self._hear(maker)) is None:
                pass
            self._writer.take_over(notes)

    def __enter__(self) -> "FileMakers":
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def _begin(self) -> None:
        (its_orders, orders), (answers, its_answers) = os.pipe(), os.pipe()
        ours = [orders, answers, *(end for maker in self._makers for end in (maker.orders, maker.answers))]
        process = _forked()
        if process == 0:
            become_maker(its_orders, its_answers, self._blocks, self._block_size, self._writer, not_its=ours)
        os.close(its_orders)
        os.close(its_answers)
        maker = _Maker(process or 0, orders, answers)
        if process is None:
            maker.close()
        else:
            self._makers.append(maker)

    def _send(self, pack: Pack, block: bytes | None) -> None:
        while not (ready := [maker for maker in self._makers if len(maker.slots) < PACKS_PER_MAKER]):
            self._hear(*self._makers)
        maker = min(ready, key=lambda maker: len(maker.slots))
        slot = self._free.pop()
        if block is not None:
            begin = slot * self._block_size
            self._blocks[begin : begin + len(block)] = block
        maker.slots.append(slot)
        message = encode_pack(pack)
        try:
            write_all(maker.orders, HEADER.pack(NO_BLOCK if block is None else slot, len(message)) + message)
        except BrokenPipeError:  # it does not listen any more: its last words say why
            while True:
                self._hear(maker)

    def _hear(self, *makers: _Maker) -> Notes | None:
        """Wait until one of them is done with something, or with everything: then it has notes. Raises what failed."""
        maker = self._speaker(makers)
        line = maker.said.line()
        if line is None:
            raise HelperLost("a process that made files was killed before it was done", hint="is there enough memory?")
        match ANSWERS.decode(line):
            case PackDone():
                self._free.append(maker.slots.pop(0))
                return None
            case Finished(notes=notes):
                return notes
            case MakerFailed(error=error):
                raise error.as_error()

    def _speaker(self, makers: Sequence[_Maker]) -> _Maker:
        """Wait until one of them has said something, or is gone."""
        for maker in makers:
            if maker.said.has_line:
                return maker
        poll = select.poll()
        for maker in makers:
            poll.register(maker.answers, select.POLLIN)
        while not (ready := poll.poll(_BETWEEN_LOOKS_MS)):
            self._on_wait()
        return next(maker for maker in makers if maker.answers == ready[0][0])

    def _end(self) -> None:
        for maker in self._makers:
            maker.close()
            # Done, or not wanted any more. Nobody else reaps it, so the number is still that of this process.
            os.kill(maker.process, signal.SIGKILL)
            os.waitpid(maker.process, 0)
        self._makers.clear()
        self._blocks.release()
        self._shared.close()


def _forked() -> int | None:
    """None where the system allows no further process."""
    with warnings.catch_warnings():
        # Newer Pythons warn of threads that might hold locks. The child takes none that were there before.
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return os.fork()
        except OSError:
            return None
