"""Secrets as files of `KEY=VALUE` lines in the data directory, readable by their owner only."""

import asyncio
import os
import re
import stat
from pathlib import Path

from tidegate.errors import InvalidInput
from tidegate.model.names import check_name

_LARGEST = 256 * 1024
_LINE = re.compile(r"(?:export\s+)?([A-Z][A-Z0-9_]*)=(.*)", re.DOTALL)
_FIELD = "spec.credentialSecret"


class SecretFiles:
    """Keeps the promise of SecretStore with one file per secret. Read anew each time: a changed key counts at once."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    async def read(self, name: str) -> dict[str, str]:
        """See SecretStore."""
        return await asyncio.to_thread(self._read, name)

    def _read(self, name: str) -> dict[str, str]:
        try:
            path = self._directory / check_name(name)
        except ValueError as error:
            raise InvalidInput(str(error), field=_FIELD) from None
        try:
            descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            raise InvalidInput(
                f"there is no secret {name}: cannot open {path} ({error.strerror})",
                field=_FIELD,
                hint=f"write KEY=VALUE lines to {path} on the server's machine and chmod 600 it",
            ) from None
        try:
            _refuse_if_others_can_read(path, os.fstat(descriptor))
            return parse_secret(os.read(descriptor, _LARGEST + 1), what=str(path))
        finally:
            os.close(descriptor)


def parse_secret(body: bytes, *, what: str) -> dict[str, str]:
    r"""`KEY=VALUE` lines; `#` begins a comment line, quotes around a value are dropped, a literal `\n` is a line break.

    Raises InvalidInput that tells the number of the line, never what is in it.
    """
    if len(body) > _LARGEST:
        raise InvalidInput(f"{what} is larger than a secret can be", field=_FIELD)
    secret: dict[str, str] = {}
    for number, line in enumerate(body.decode(errors="replace").splitlines(), start=1):
        words = line.strip()
        if not words or words.startswith("#"):
            continue
        found = _LINE.fullmatch(words)
        if found is None or found.group(1) in secret:
            problem = "is not KEY=VALUE" if found is None else f"gives {found.group(1)} a second time"
            raise InvalidInput(f"line {number} of {what} {problem}", field=_FIELD)
        secret[found.group(1)] = _value(found.group(2).strip())
    return secret


def _value(text: str) -> str:
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return (text[1:-1] if quoted else text).replace("\\n", "\n")


def _refuse_if_others_can_read(path: Path, found: os.stat_result) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise InvalidInput(f"{path} is not a file", field=_FIELD)
    if found.st_mode & 0o077:
        raise InvalidInput(f"{path} can be read by others than its owner", field=_FIELD, hint=f"run: chmod 600 {path}")
