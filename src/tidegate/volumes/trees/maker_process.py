"""The process that makes small files: reads packs from a pipe, finds their bytes in shared memory, tells when done.

    to it       slot, length, then the pack's entries; slot NO_BLOCK: the files are zeros. The end: no more will come
    from it     DONE after each pack; at the end FINISHED and what to tell; after an error FAILED and the error

Two pipes, so that it can stop listening before it says why.

It is forked, and so has everything that its parent had. It touches none of it but the tree and the two above.
"""

import gc
import os
import pickle
import signal
import struct
from collections.abc import Iterable, Iterator
from typing import NoReturn

from tidegate.format.trees.batches import Pack
from tidegate.format.trees.pack_message import decode_pack
from tidegate.volumes.trees.writer import TreeWriter

HEADER = struct.Struct("<iI")
NO_BLOCK = -1
DONE, FINISHED, FAILED = b".", b"#", b"!"


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
            os.write(answers, DONE)
    except Exception as error:  # noqa: BLE001  raised again in the parent
        # The orders are closed by now. Should the parent be sending some, it notices and listens.
        write_all(answers, FAILED + pickle.dumps(error))
    else:
        write_all(answers, FINISHED + pickle.dumps(writer.notes))


def write_all(pipe: int, message: bytes) -> None:
    """Also what does not fit at once."""
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(pipe, rest) :]


def _packs(orders: int) -> Iterator[tuple[int, Pack]]:
    with open(orders, "rb") as incoming:
        while header := incoming.read(HEADER.size):
            slot, length = HEADER.unpack(header)
            yield slot, decode_pack(incoming.read(length))
