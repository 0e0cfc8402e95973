"""The two streams of a command: data goes to stdout, everything else to stderr."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TextIO


class ReaderGone(Exception):
    """Whoever read our output has seen enough, as in `| head -1`."""


@dataclass(frozen=True)
class Terminal:
    """Where words go, and whether they may be coloured there."""

    variables: Mapping[str, str]
    color: str = "auto"

    @property
    def colored(self) -> bool:
        """Whether data may carry colours."""
        return wants_color(self.color, self.variables, is_terminal=sys.stdout.isatty())

    @property
    def draws(self) -> bool:
        """Whether somebody looks at the data who likes a picture beside it."""
        return sys.stdout.isatty()

    @property
    def asks(self) -> bool:
        """Whether somebody is there to answer."""
        return sys.stdin.isatty() and sys.stderr.isatty()

    @property
    def animates(self) -> bool:
        """Whether progress may be drawn over itself."""
        return sys.stderr.isatty() and self.variables.get("TERM") != "dumb"

    def out(self, text: str) -> None:
        """Data, whole lines. Raises ReaderGone if nobody reads on."""
        try:
            sys.stdout.write(f"{text}\n")
            # At once: what follows in a pipe shall see a change when it happens.
            sys.stdout.flush()
        except BrokenPipeError:
            _discard(sys.stdout)
            raise ReaderGone from None

    def note(self, text: str) -> None:
        """Everything that is not data."""
        try:
            sys.stderr.write(f"{text}\n")
            sys.stderr.flush()
        except BrokenPipeError:
            _discard(sys.stderr)


def wants_color(mode: str, variables: Mapping[str, str], *, is_terminal: bool) -> bool:
    """What was said outright wins; then NO_COLOR, FORCE_COLOR and TERM=dumb; then whether it is a terminal."""
    if mode != "auto":
        return mode == "always"
    if variables.get("NO_COLOR"):
        return False
    if variables.get("FORCE_COLOR"):
        return True
    return is_terminal and variables.get("TERM") != "dumb"


def printable(text: str) -> str:
    """Text from elsewhere without what would steer a terminal; line breaks become spaces."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else " " if character in "\n\t" else ascii(character)[1:-1]
        for character in text
    )


def _discard(stream: TextIO) -> None:
    """Let the interpreter flush at its end into nothing, instead of complaining about the broken pipe."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
