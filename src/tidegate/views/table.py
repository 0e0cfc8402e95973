"""Tables and sections as plain values: what a terminal, a page or a test does with them is its own affair."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Generic, TypeVar

from tidegate.views.reader import Reader

R = TypeVar("R")


class Tone(StrEnum):
    """What a value means to somebody who only skims; a terminal makes a colour of it."""

    PLAIN = "plain"
    GOOD = "good"
    BUSY = "busy"
    WAITING = "waiting"
    BAD = "bad"


@dataclass(frozen=True)
class Cell:
    """One value."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True)
class Column(Generic[R]):
    """One column: its title and how its cells come from a resource, or whatever else has rows."""

    title: str
    cell: Callable[[R, Reader], Cell | str]
    wide: bool = False
    """Only shown to those who asked for more."""
    right: bool = False
    """Numbers stand under each other by their last digit."""


Row = tuple[Cell, ...]


@dataclass(frozen=True)
class TableView(Generic[R]):
    """How a kind looks as a table."""

    kinds: tuple[type[R], ...]
    columns: tuple[Column[R], ...]

    def shown(self, *, wide: bool) -> tuple[Column[R], ...]:
        """The columns of the plain or of the wide table."""
        return tuple(column for column in self.columns if wide or not column.wide)

    def row(self, resource: R, reader: Reader, *, wide: bool) -> Row:
        """One resource as cells, in the order of `shown`."""
        return tuple(_as_cell(column.cell(resource, reader)) for column in self.shown(wide=wide))

    def rows(self, resources: Iterable[R], reader: Reader, *, wide: bool) -> tuple[Row, ...]:
        """All of them."""
        return tuple(self.row(resource, reader, wide=wide) for resource in resources)


@dataclass(frozen=True)
class Section:
    """One part of a description: a heading and what there is to say under it."""

    heading: str
    lines: tuple[tuple[str, str], ...]


def section(heading: str, lines: Sequence[tuple[str, str]]) -> Section:
    """A section without the lines that have nothing to say."""
    return Section(heading, tuple((label, value) for label, value in lines if value != ""))


def sections(*parts: Section) -> tuple[Section, ...]:
    """Only those that say something."""
    return tuple(part for part in parts if part.lines)


def joined(values: Iterable[str], *, empty: str = "") -> str:
    """`a, b, c`."""
    return ", ".join(values) or empty


def label_text(labels: dict[str, str]) -> str:
    """`app=shop,tier=db`, as selectors are written."""
    return ",".join(f"{key}={value}" for key, value in sorted(labels.items()))


def _as_cell(value: Cell | str) -> Cell:
    return value if isinstance(value, Cell) else Cell(value)
