"""How the rows of a long field are divided into pages, and which pages a change replaces.

Pure. A page never changes: a write adds pages, then names them in the resource, then removes those that it replaced. So
the write of the resource alone decides which rows hold, and a change of one row replaces one page.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import to_json

from tidegate.model.resource import Metadata, Resource
from tidegate.model.row_page import LongStatus, RowPage, RowPageSpec, RowRange

# In characters. What is shorter stays in its field: most backups have a handful of blocks.
LONGEST_FIELD = 16 * 1024
# In characters. As JSON inside of JSON, the worst text takes four times as many bytes.
LONGEST_PAGE = 32 * 1024

Rows = tuple[Any, ...]


@dataclass(frozen=True)
class Kept:
    """A range that is stored, with its rows."""

    range: RowRange
    rows: Rows


@dataclass(frozen=True)
class Paged:
    """A status as it is stored, and what becomes of pages."""

    status: LongStatus
    added: tuple[RowPage, ...]
    ranges: tuple[Kept, ...]
    """Those of the added pages, with their rows as they will be read back."""
    replaced: tuple[str, ...]
    """Pages that the status no longer names."""


def page_names(status: LongStatus) -> set[str]:
    """All pages that a stored status names."""
    return {name for ranges in (status.row_pages or {}).values() for one in ranges for name in one.pages}


def with_rows(status: LongStatus, rows: Mapping[RowRange, Rows]) -> LongStatus:
    """A stored status with the rows of all its pages."""
    named = (status.row_pages or {}).items()
    return status.replace(**{field: tuple(row for one in ranges for row in rows[one]) for field, ranges in named})


def without_rows(status: LongStatus) -> LongStatus:
    """The same the other way round: the status as it is stored, whose rows are in the pages that it names."""
    return status.replace(**dict.fromkeys(status.row_pages or {}, ()))


def parse_rows(kind: type[LongStatus], field: str, text: str) -> Rows:
    """What the pages of one range hold; raises ValidationError for what this field cannot hold."""
    return tuple(_adapter(kind, field).validate_json(text))


def plan_pages(resource: Resource, stored: Mapping[RowRange, Rows]) -> Paged:
    """Divide the status of a resource, read when it named these ranges; raises ValidationError as `parse_rows` does."""
    status = resource.status
    assert isinstance(status, LongStatus)  # noqa: S101  # no other one has long fields
    named: dict[str, tuple[RowRange, ...]] = {}
    pages: list[RowPage] = []
    ranges: list[Kept] = []
    for field in status.long_fields:
        old = [Kept(one, stored[one]) for one in (status.row_pages or {}).get(field, ())]
        pieces = list(_pieces(getattr(status, field) or (), old))
        for place, piece in enumerate(pieces):
            if isinstance(piece, str):
                made = _pages(resource, f"{field}/{place}", piece)
                rows = parse_rows(type(status), field, piece)
                kept = Kept(RowRange(pages=tuple(one.name for one in made), rows=len(rows), size=len(piece)), rows)
                pages += made
                ranges.append(kept)
                pieces[place] = kept
        if pieces:
            named[field] = tuple(piece.range for piece in pieces if isinstance(piece, Kept))
    slim = without_rows(status.replace(row_pages=named or None))
    return Paged(slim, tuple(pages), tuple(ranges), tuple(sorted(page_names(status) - page_names(slim))))


def _pieces(rows: Rows, old: Sequence[Kept]) -> Iterator[Kept | str]:
    """The rows in their order: stored ranges, and the text of new ones. Nothing if they stay in their field."""
    if not old:
        texts = [_text(row) for row in rows]
        if sum(map(len, texts)) > LONGEST_FIELD:
            yield from _cut(texts)
        return
    front, begin = _same_before(old, rows)
    back, end = _same_behind(old[front:], rows[begin:])
    changed, middle = old[front : len(old) - back], rows[begin : len(rows) - end]
    if sum(one.range.rows for one in changed) == len(middle):
        yield from old[:front]
        yield from _in_their_places(changed, middle)
    else:
        texts = [_text(row) for row in middle]
        if texts and front and old[front - 1].range.size + sum(len(text) + 1 for text in texts) <= LONGEST_PAGE:
            # Rows that come one by one fill the page before them: one for each would be one too many.
            front -= 1
            texts = [*(_text(row) for row in old[front].rows), *texts]
        yield from old[:front]
        yield from _cut(texts)
    yield from old[len(old) - back :]


def _in_their_places(changed: Sequence[Kept], rows: Rows) -> Iterator[Kept | str]:
    """As many rows as before: only the ranges in which one differs are new."""
    begin = 0
    for one in changed:
        now = rows[begin : begin + one.range.rows]
        begin += one.range.rows
        if now == one.rows:
            yield one
        else:
            yield from _cut([_text(row) for row in now])


def _same_before(old: Sequence[Kept], rows: Rows) -> tuple[int, int]:
    """How many ranges, and rows in them, the rows begin with."""
    begin = 0
    for count, one in enumerate(old):
        if rows[begin : begin + one.range.rows] != one.rows:
            return count, begin
        begin += one.range.rows
    return len(old), begin


def _same_behind(old: Sequence[Kept], rows: Rows) -> tuple[int, int]:
    """How many ranges, and rows in them, the rows end with."""
    end = 0
    for count, one in enumerate(reversed(old)):
        if rows[max(0, len(rows) - end - one.range.rows) : len(rows) - end] != one.rows:
            return count, end
        end += one.range.rows
    return len(old), end


def _cut(texts: Sequence[str]) -> Iterator[str]:
    """JSON lists, each as long as a page allows, or of a single row."""
    part: list[str] = []
    size = 1
    for text in texts:
        if part and size + len(text) + 1 > LONGEST_PAGE:
            yield f"[{','.join(part)}]"
            part, size = [], 1
        part.append(text)
        size += len(text) + 1
    if part:
        yield f"[{','.join(part)}]"


def _pages(resource: Resource, place: str, text: str) -> list[RowPage]:
    """The pages of one range. The same write makes the same names, another one makes others."""
    meta = resource.metadata
    written = f"{resource.ref}/{meta.uid}/{meta.resource_version}/{place}/{text}"
    stem = f"{meta.name.replace('.', '-')[:200]}-rows-{sha256(written.encode()).hexdigest()[:20]}"
    return [
        RowPage(
            metadata=Metadata(name=f"{stem}-{number}", owner_references=(resource.as_owner(),)),
            spec=RowPageSpec(text=text[begin : begin + LONGEST_PAGE]),
        )
        for number, begin in enumerate(range(0, len(text), LONGEST_PAGE))
    ]


def _text(row: object) -> str:
    return to_json(row, by_alias=True, exclude_none=True).decode()


@cache
def _adapter(kind: type[LongStatus], field: str) -> TypeAdapter[Any]:
    annotation: Any = kind.model_fields[field].annotation
    return TypeAdapter(annotation)
