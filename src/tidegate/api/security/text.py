"""Text that no database, no file and no answer can hold is refused where it comes in."""

import json

from fastapi import Request

from tidegate.decide.access.roles import READING_METHODS
from tidegate.errors import InvalidInput


async def require_whole_text(request: Request) -> None:
    r"""Raise InvalidInput for half of a surrogate pair in the body: JSON can write `"\ud800"`, which is no text."""
    if request.method in READING_METHODS:
        return
    body = await request.body()
    if body.isascii() and b"\\u" not in body and b"\0" not in body:
        return  # nothing but ASCII, not written in another way either
    try:
        document = await request.json()
    except ValueError:
        return  # whoever reads it says so
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        character = f"U+{ord(error.object[error.start]):04X}"
        raise InvalidInput(
            f"the body holds {character}, half of a surrogate pair, which is not a character",
            hint="send whole characters",
        ) from None
