"""Tables and sections as lines of text: columns by spaces, no boxes, nothing cut off."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from tidegate.cli.output.terminal import printable

if TYPE_CHECKING:
    from tidegate.views.table import Cell, Column, Row, Section

    R = TypeVar("R")

_GAP = "  "
_COLORS = {"good": "32", "busy": "36", "waiting": "33", "bad": "31"}


def widths(columns: "Sequence[Column[R]]", rows: "Sequence[Row]") -> list[int]:
    """How wide each column must be for its title and all of these rows."""
    cells = [[column.title for column in columns], *([printable(cell.text) for cell in row] for row in rows)]
    return [max(len(line[place]) for line in cells) for place in range(len(columns))]


def aligned(
    cells: "Sequence[Cell | str]", wide: Sequence[int], columns: "Sequence[Column[R]]", *, colored: bool = False
) -> str:
    """One line. The last column is not padded, so that lines do not end in spaces."""
    parts = []
    for cell, width, column in zip(cells, wide, columns, strict=True):
        text = printable(cell if isinstance(cell, str) else cell.text)
        padding = " " * (width - len(text))
        shown = painted(text, cell.tone) if colored and not isinstance(cell, str) else text
        parts.append(padding + shown if column.right else shown + padding)
    return _GAP.join(parts).rstrip()


def painted(text: str, tone: str) -> str:
    """Text in the colour of its tone."""
    color = _COLORS.get(tone)
    return f"\x1b[{color}m{text}\x1b[0m" if color and text else text


def described(sections: "Sequence[Section]", *, colored: bool) -> str:
    """Headings with their lines below them; all values of a description stand under each other."""
    longest = max((len(label) for section in sections for label, _ in section.lines), default=0)
    blocks = []
    for section in sections:
        heading = printable(section.heading)
        lines = [f"\x1b[1m{heading}\x1b[0m" if colored else heading]
        lines += [f"  {f'{label}:':<{longest + 1}}  {printable(value)}" for label, value in section.lines]
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)
