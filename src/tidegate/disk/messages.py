"""What the processes of one machine say to each other: values as lines of JSON, over any pipe or socket.

Both ends are the same program, so a message may change from one version to the next. `model/plain.py` reads and writes
the values; here is how they get into a pipe and out of it again.
"""

import os
import traceback
from asyncio import StreamReader
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Generic, Self, TypeVar

from tidegate.errors import TidegateError, error_classes
from tidegate.model.plain import Plain, read_json

T = TypeVar("T", bound=Plain)
_CHUNK = 65536


class Messages(Generic[T]):
    """The messages of one direction, told apart by their `type`."""

    def __init__(self, kinds: Iterable[type[T]]) -> None:
        self._kinds: Mapping[str, type[T]] = {vars(kind)["type"]: kind for kind in kinds}

    def encode(self, message: T) -> bytes:
        """Return its line."""
        return message.to_json().encode() + b"\n"

    def decode(self, line: bytes) -> T:
        """Return the message of a line; raise InvalidInput for any other line."""
        return read_json(self._kinds, line, told_by="type")


class Lines:
    """Cuts a stream into lines of any length."""

    def __init__(self) -> None:
        self._begun: list[bytes] = []

    def feed(self, chunk: bytes) -> Iterator[bytes]:
        """Yield the lines that `chunk` completes, without their ends."""
        *ends, rest = chunk.split(b"\n")
        for end in ends:
            yield b"".join([*self._begun, end])
            self._begun.clear()
        if rest:
            self._begun.append(rest)


async def lines_of(stream: StreamReader) -> AsyncIterator[bytes]:
    """Yield every whole line until the other end is closed or gone."""
    lines = Lines()
    try:
        while chunk := await stream.read(_CHUNK):
            for line in lines.feed(chunk):
                yield line
    except ConnectionResetError:
        return


class LineReader:
    """Reads lines from a handle in the caller's thread.

    Not through a buffered reader: its lock, held by a thread that waits, aborts the interpreter at its end.
    """

    def __init__(self, handle: int) -> None:
        self._handle = handle
        self._lines = Lines()
        self._ready: list[bytes] = []

    @property
    def has_line(self) -> bool:
        """Whether `line` returns without looking at the handle."""
        return bool(self._ready)

    def line(self) -> bytes | None:
        """Return the next whole line; None at the end."""
        while not self._ready:
            chunk = os.read(self._handle, _CHUNK)
            if not chunk:
                return None
            self._ready.extend(self._lines.feed(chunk))
        return self._ready.pop(0)


def write_all(handle: int, message: bytes) -> None:
    """Write also what does not fit at once."""
    rest = memoryview(message)
    while rest:
        rest = rest[os.write(handle, rest) :]


@dataclass(frozen=True, kw_only=True)
class SentError(Plain):
    """An error on its way to another process, which raises it as if it were its own."""

    code: str
    """That of a TidegateError; empty for any other error."""
    message: str
    hint: str = ""
    details: dict[str, str] = field(default_factory=dict)
    """What a class of errors knows beside that, such as the field of InvalidInput."""
    errno: int | None = None
    """Of an OSError; `message` is its text then."""
    path: str | None = None
    trace: str = ""

    @classmethod
    def of(cls, error: BaseException) -> Self:
        """Return what travels of this error."""
        trace = "".join(traceback.format_exception(error))
        if isinstance(error, TidegateError):
            known = {name: value for name, value in vars(error).items() if isinstance(value, str)}
            message, hint = known.pop("message"), known.pop("hint")
            return cls(code=error.code, message=message, hint=hint, details=known, trace=trace)
        if isinstance(error, OSError) and error.errno is not None:
            path = error.filename if isinstance(error.filename, str | bytes) else None
            place = None if path is None else os.fsdecode(path)
            return cls(code="", message=error.strerror or "", errno=error.errno, path=place, trace=trace)
        return cls(code="", message=f"{type(error).__name__}: {error}", trace=trace)

    def as_error(self) -> Exception:
        """Return the error to raise, with the other process's traceback as a note."""
        error = self._made()
        error.add_note(self.trace)
        return error

    def _made(self) -> Exception:
        if self.errno is not None:
            return OSError(self.errno, self.message, self.path)
        if self.code:
            return error_classes()[self.code](self.message, hint=self.hint, **self.details)
        return RuntimeError(self.message)
