"""The lines of a manifest while it is made: on disk, for a tree may have more files than memory has room for."""

import os
import tempfile
from collections.abc import Iterator

_MOST_LINES_SHORTER = 1024
_PIECE = 1024 * 1024


class TreeSpool:
    """Lines, each known by where it begins. Lines may be read by many threads once `flush` was called."""

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115  closed by `close`
        self.end = 0

    def append(self, line: bytes) -> int:
        """Keep the line; returns where it begins."""
        begin = self.end
        self._file.write(line)
        self.end += len(line)
        return begin

    def flush(self) -> None:
        """Let everything that was appended be read."""
        self._file.flush()

    def line(self, begin: int) -> bytes:
        """One line, without its end."""
        size = _MOST_LINES_SHORTER
        while True:
            piece = os.pread(self._file.fileno(), size, begin)
            end = piece.find(b"\n")
            if end >= 0:
                return piece[:end]
            if len(piece) < size:
                raise ValueError(f"no line begins at {begin}")
            size *= 8

    def lines(self, end: int) -> Iterator[tuple[int, bytes]]:
        """Where each line before `end` begins, and the line with its end."""
        self._file.flush()
        # Read by position: the file's own position is where the next line is appended.
        begin, read, rest = 0, 0, b""
        while begin < end:
            piece = os.pread(self._file.fileno(), _PIECE, read)
            if not piece:
                return
            read += len(piece)
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                if begin >= end:
                    return
                yield begin, line + b"\n"
                begin += len(line) + 1

    def read(self, offset: int, length: int) -> bytes:
        """A range of all bytes; less where they end."""
        return os.pread(self._file.fileno(), length, offset)

    def close(self) -> None:
        """Nothing stays on the disk."""
        self._file.close()
