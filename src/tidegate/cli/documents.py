"""Small JSON files that people write by hand and name on the command line."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from tidegate.errors import InvalidInput

T = TypeVar("T")

_LARGEST = 1_000_000


def read_document(path: Path, read: Callable[[str], T], *, option: str) -> T:
    """What `read` makes of the file; raises InvalidInput with the file and the mistake in one sentence."""
    try:
        with path.open("rb") as file:
            content = file.read(_LARGEST + 1)
    except OSError as error:
        raise InvalidInput(f"{option}: {path} cannot be read: {error.strerror}.", field=option) from error
    if len(content) > _LARGEST:
        raise InvalidInput(f"{option}: {path} has more than {_LARGEST} bytes; it is another file.", field=option)
    try:
        return read(content.decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InvalidInput(f"{option}: {path} is not text in UTF-8.", field=option) from None
    except ValueError as error:
        raise InvalidInput(f"{option}: {path}: {error}.", field=option) from None
