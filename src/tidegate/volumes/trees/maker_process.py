"""The process that makes small files: reads packs from a pipe, finds their bytes in shared memory, tells when done.

    to it       slot, length, then the pack's entries; slot NO_BLOCK: the files are zeros. The end: no more will come
    from it     PackDone after each pack; at the end Finished; after an error MakerFailed

The packs are no JSON: to write and read a thousand entries as such takes several times as long as the files of some.
Two pipes, so that it can stop listening before it says why.

It is forked, and so has everything that its parent had. It touches none of it but the tree and the two above.
"""

import gc
import os
import signal
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Literal, NoReturn

from tidegate.disk.messages import Messages, SentError, write_all
from tidegate.format.trees.batches import Pack
from tidegate.format.trees.pack_message import decode_pack
from tidegate.model.plain import Plain
from tidegate.volumes.trees.writer import Notes, TreeWriter

HEADER = struct.Struct("<iI")
NO_BLOCK = -1


@dataclass(frozen=True, kw_only=True)
class PackDone(Plain):
    """The oldest pack that it had is made."""

    type: Literal["done"] = "done"


@dataclass(frozen=True, kw_only=True)
class Finished(Plain):
    """Everything is made."""

    type: Literal["finished"] = "finished"
    notes: Notes


@dataclass(frozen=True, kw_only=True)
class MakerFailed(Plain):
    """It ends with this."""

    type: Literal["failed"] = "failed"
    error: SentError


ANSWERS: Messages[PackDone | Finished | MakerFailed] = Messages([PackDone, Finished, MakerFailed])
_DONE = ANSWERS.encode(PackDone())


def become_maker(
    orders: int, answers: int, blocks: memoryview, block_size: int, writer: TreeWriter, *, not_its: Iterable[int]
) -> NoReturn:
    """Never returns, whatever happens: two processes that both take themselves for the mover would be a disaster.

    Of pipes, the ends `not_its` are the mover's: kept open, they would keep makers waiting when the mover is gone.
    """
    try:
        for end in not_its:
            os.close(end)
        _leave_the_parent()
        _answer(orders, answers, blocks, block_size, writer)
    finally:
        os._exit(0)


def _leave_the_parent() -> None:
    # Its handlers set events of threads that are not here. Whoever presses Ctrl-C means the parent, which ends us.
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # Whoever reads the mover's reports must see their end when the mover is gone.
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    os.dup2(nothing, 1)
    # Nothing that the parent made may be collected here; and to look for it would copy all of its memory.
    gc.disable()
    gc.freeze()


def _answer(orders: int, answers: int, blocks: memoryview, block_size: int, writer: TreeWriter) -> None:
    try:
        for slot, pack in _packs(orders):
            begin = slot * block_size
            writer.write_pack(pack, None if slot == NO_BLOCK else blocks[begin : begin + block_size])
            os.write(answers, _DONE)
    except Exception as error:  # noqa: BLE001  raised again in the parent
        # The orders are closed by now. Should the parent be sending some, it notices and listens.
        write_all(answers, ANSWERS.encode(MakerFailed(error=SentError.of(error))))
    else:
        write_all(answers, ANSWERS.encode(Finished(notes=writer.notes)))


def _packs(orders: int) -> Iterator[tuple[int, Pack]]:
    with open(orders, "rb") as incoming:
        while header := incoming.read(HEADER.size):
            slot, length = HEADER.unpack(header)
            yield slot, decode_pack(incoming.read(length))
