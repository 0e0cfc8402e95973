"""Resources on stdout: json, yaml, names or a table."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, TypeVar

from tidegate.cli.context import CliContext
from tidegate.cli.http.nouns import Noun
from tidegate.cli.http.wire import Wire, full_name_of, read_all
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.table_text import aligned, described, widths

if TYPE_CHECKING:
    from tidegate.model.resource import Resource
    from tidegate.views.table import Row, Section, TableView

R = TypeVar("R")

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
API_VERSION = "tidegate.dev/v1alpha1"


def load_view(noun: Noun) -> "TableView[Resource]":
    """The noun's table; imports its model."""
    module, _, name = noun.view.partition(":")
    view: TableView[Resource] = getattr(import_module(f"tidegate.views.{module}"), name)
    return view


def show_one(cli: CliContext, noun: Noun, wire: Wire, form: OutputFormat) -> None:
    """One resource: in json and yaml itself, not a list of one."""
    if form is OutputFormat.JSON:
        cli.terminal.out(pretty_json(wire))
    elif form is OutputFormat.YAML:
        cli.terminal.out(yaml_text(wire))
    else:
        show_all(cli, noun, [wire], form)


def show_all(cli: CliContext, noun: Noun, wires: Sequence[Wire], form: OutputFormat) -> None:
    """Any number of resources."""
    if form.is_table:
        TablePrinter(cli, noun, wide=form is OutputFormat.WIDE).show(wires)
    elif form is OutputFormat.NAME:
        for wire in wires:
            cli.terminal.out(typed_name(noun, wire))
    elif form is OutputFormat.JSONL:
        for wire in wires:
            cli.terminal.out(compact_json(wire))
    else:
        document = {"apiVersion": API_VERSION, "kind": "List", "items": list(wires)}
        cli.terminal.out(pretty_json(document) if form is OutputFormat.JSON else yaml_text(document))


@dataclass
class TablePrinter:
    """Prints rows under one header, at once or as they come."""

    cli: CliContext
    noun: Noun
    wide: bool
    exact_bytes: bool = False
    _widths: list[int] = field(default_factory=list)

    @property
    def begun(self) -> bool:
        """Whether the header is out."""
        return bool(self._widths)

    def show(self, wires: Sequence[Wire]) -> None:
        """The header and a row for each. Of nothing, only a note: an empty pipe stays empty."""
        if not wires:
            self.cli.terminal.note(f"No {self.noun.word}s found.")
            return
        rows = self._rows(wires)
        self._begin(rows)
        for row in rows:
            self._row(row)

    def add(self, wire: Wire, *, deleted: bool = False) -> None:
        """One more row, with the columns where they were; the row of what is gone says so."""
        rows = self._rows([wire])
        if not self._widths:
            self._begin(rows)
        self._row(rows[0], note="  (deleted)" if deleted else "")

    def _begin(self, rows: "Sequence[Row]") -> None:
        columns = load_view(self.noun).shown(wide=self.wide)
        self._widths = widths(columns, rows)
        self.cli.terminal.out(aligned([column.title for column in columns], self._widths, columns))

    def _row(self, row: "Row", note: str = "") -> None:
        columns = load_view(self.noun).shown(wide=self.wide)
        line = aligned(row, self._widths, columns, colored=self.cli.terminal.colored)
        self.cli.terminal.out(line + note)

    def _rows(self, wires: Sequence[Wire]) -> "tuple[Row, ...]":
        view = load_view(self.noun)
        reader = self.cli.reader(exact_bytes=self.exact_bytes)
        return view.rows(read_all(view.kinds, wires), reader, wide=self.wide)


def show_table(cli: CliContext, view: "TableView[R]", things: "Sequence[R]", *, wide: bool) -> None:
    """Rows of what is no resource. Of nothing, not even a header: an empty pipe stays empty."""
    if not things:
        return
    columns = view.shown(wide=wide)
    rows = view.rows(things, cli.reader(), wide=wide)
    width = widths(columns, rows)
    cli.terminal.out(aligned([column.title for column in columns], width, columns))
    for row in rows:
        cli.terminal.out(aligned(row, width, columns, colored=cli.terminal.colored))


def show_sections(cli: CliContext, sections: "Sequence[Section]") -> None:
    """A description."""
    cli.terminal.out(described(sections, colored=cli.terminal.colored))


def typed_name(noun: Noun, wire: Wire) -> str:
    """`backup/nightly`, `volume/shop/db`, `systembackup/weekly`."""
    return f"{noun.tag}/{full_name_of(wire)}"


def compact_json(document: Wire) -> str:
    """One line."""
    return _as_utf8(json.dumps(document, ensure_ascii=False, separators=(",", ":")))


def pretty_json(document: Wire) -> str:
    """For people and programs alike."""
    return _as_utf8(json.dumps(document, ensure_ascii=False, indent=2))


def _as_utf8(text: str) -> str:
    """Bytes of names that are not UTF-8 as JSON's own escapes: raw, they would make the document none."""
    return _LONE_SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def yaml_text(document: Wire) -> str:
    """As one would write it by hand."""
    import yaml

    return yaml.safe_dump(document, sort_keys=False, allow_unicode=True, width=120).rstrip("\n")
