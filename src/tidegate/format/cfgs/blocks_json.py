"""The `Blocks` of a backup cfg, read and written as bytes: they are nearly all of the file, and always look the same.

Going through JSON they would cost ten times the memory of the file. Only what looks exactly as Longhorn and we write it
is read here; anything else is left to the JSON reader, which knows how to complain.
"""

import re
from array import array
from collections.abc import Iterable, Iterator
from itertools import islice

from tidegate.format.blocks.block_map import BlockMap, BlockRef

# Stands for the blocks where they were cut out of a cfg.
PLACEHOLDER = "the blocks"
_MARK = f'"{PLACEHOLDER}"'.encode()
_MARKED = b'"Blocks":' + _MARK
_BEGIN = re.compile(rb'[{,]"Blocks":\[')
_ENTRY = re.compile(rb'\{"Offset":(0|[1-9][0-9]{0,17}),"BlockChecksum":"([0-9a-f]{64})"\}([,\]])')
_ENTRIES_AT_ONCE = 4096


def cut_blocks(body: bytes) -> tuple[bytes, BlockMap] | None:
    """The cfg with a placeholder for its blocks, and the blocks, ascending; None if they are not as usual."""
    begin = _BEGIN.search(body)
    if begin is None or _MARK in body[: begin.end()]:
        return None
    offsets, digests = array("Q"), bytearray()
    end, last, closing = begin.end(), -1, b","
    while closing == b",":
        entry = _ENTRY.match(body, end)
        if entry is None:
            return None
        offset = int(entry[1])
        if offset <= last:
            return None
        offsets.append(offset)
        digests += bytes.fromhex(entry[2].decode())
        last, end, closing = offset, entry.end(), entry[3]
    rest = body[end:]
    return None if _MARK in rest else (body[: begin.end() - 1] + _MARK + rest, BlockMap(offsets, digests))


def paste_blocks(document: bytes, blocks: Iterable[BlockRef]) -> Iterator[bytes]:
    """The pieces of the document with these blocks, at least one, in the place of the placeholder."""
    # The last one: behind the blocks of a cfg there is no name like that, before them a label may have it.
    before, _, after = document.rpartition(_MARKED)
    yield before + b'"Blocks":['
    row, separator = iter(blocks), ""
    while chunk := list(islice(row, _ENTRIES_AT_ONCE)):
        entries = ",".join(f'{{"Offset":{offset},"BlockChecksum":"{name}"}}' for offset, name in chunk)
        yield (separator + entries).encode()
        separator = ","
    yield b"]" + after
