"""What a bench reports, and how it is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Row:
    """One measured number; with a target, one that must be met."""

    what: str
    value: float
    unit: str
    target: float | None = None
    better: Literal["more", "less"] = "more"

    @property
    def ok(self) -> bool:
        if self.target is None:
            return True
        return self.value >= self.target if self.better == "more" else self.value <= self.target

    def cells(self) -> tuple[str, str, str, str, str]:
        sign = ">=" if self.better == "more" else "<="
        target = "" if self.target is None else f"{sign} {_number(self.target)}"
        verdict = "" if self.target is None else ("ok" if self.ok else "MISSED")
        return self.what, _number(self.value), self.unit, target, verdict


Bench = Callable[[], Sequence[Row]]


def _number(value: float) -> str:
    if value >= 100:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def table(rows: Sequence[Row]) -> str:
    cells = [("what", "value", "unit", "target", ""), *(row.cells() for row in rows)]
    widths = [max(len(line[column]) for line in cells) for column in range(5)]
    return "\n".join(_line(line, widths) for line in cells)


def _line(line: tuple[str, ...], widths: Sequence[int]) -> str:
    what, value, unit, target, verdict = line
    return f"{what:<{widths[0]}}  {value:>{widths[1]}}  {unit:<{widths[2]}}  {target:>{widths[3]}}  {verdict}".rstrip()
