"""Very many checksums, with a number for each, in some 40 bytes apiece: a dict of strings takes four times that.

They lie in small heaps by their first four digits, as the blocks do in a store. Checksums are spread evenly, so a heap
of a volume of one TiB has eight of them, and to search it costs about as much as to ask a dict.
"""

from collections.abc import Iterator

_HEAP_DIGITS = 4
_REST_BYTES = 30
_NUMBER_BYTES = 4
_ENTRY_BYTES = _REST_BYTES + _NUMBER_BYTES
_LARGEST = 2 ** (8 * _NUMBER_BYTES) - 1


class ChecksumSet:
    """Checksums, each with a number of up to four bytes; a larger one counts as the largest. Nothing is removed."""

    __slots__ = ("_count", "_heaps")

    def __init__(self) -> None:
        self._heaps: dict[str, bytes] = {}
        self._count = 0

    def add(self, checksum: str, number: int = 0) -> bool:
        """Whether it is new; what is known keeps its number."""
        heap = self._heaps.get(checksum[:_HEAP_DIGITS], b"")
        rest = bytes.fromhex(checksum[_HEAP_DIGITS:])
        if _place(heap, rest) >= 0:
            return False
        self._heaps[checksum[:_HEAP_DIGITS]] = heap + rest + min(number, _LARGEST).to_bytes(_NUMBER_BYTES)
        self._count += 1
        return True

    def number(self, checksum: str) -> int | None:
        """The number given with it; None if it is not here."""
        heap = self._heaps.get(checksum[:_HEAP_DIGITS], b"")
        place = _place(heap, bytes.fromhex(checksum[_HEAP_DIGITS:]))
        return int.from_bytes(heap[place + _REST_BYTES : place + _ENTRY_BYTES]) if place >= 0 else None

    def __contains__(self, checksum: str) -> bool:
        heap = self._heaps.get(checksum[:_HEAP_DIGITS])
        return heap is not None and _place(heap, bytes.fromhex(checksum[_HEAP_DIGITS:])) >= 0

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[str]:
        for begin, heap in self._heaps.items():
            for place in range(0, len(heap), _ENTRY_BYTES):
                yield begin + heap[place : place + _REST_BYTES].hex()


def _place(heap: bytes, rest: bytes) -> int:
    """Where the entry begins; -1 if there is none."""
    place = heap.find(rest)
    while place > 0 and place % _ENTRY_BYTES:  # across two entries by chance
        place = heap.find(rest, place + 1)
    return place
