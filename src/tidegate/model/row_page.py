"""Long fields of a status, and the pages that hold them: no resource grows with the number of volumes."""

from dataclasses import dataclass
from typing import ClassVar, Literal

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from tidegate.model.resource import Resource, Spec, Status


@dataclass(frozen=True)
class RowRange:
    """Some successive rows of one field, with the pages that hold them."""

    pages: tuple[str, ...]
    """Names of RowPages, whose texts together are one JSON list. Several only where one row is longer than a page."""
    rows: int
    size: int
    """Characters of that list."""


class LongStatus(Status):
    """A status with fields that grow with the number of volumes."""

    long_fields: ClassVar[tuple[str, ...]] = ()
    """Lists that are stored in pages once they are long."""

    row_pages: SkipJsonSchema[dict[str, tuple[RowRange, ...]] | None] = None
    """Where the rows of the long fields are; internal to the store. What is not named here is stored in its field."""


class RowPageSpec(Spec):
    """The rows themselves. A page never changes: another row means another page."""

    text: str


class RowPageStatus(Status):
    """Nothing: a page is its text."""


class RowPage(Resource):
    """Part of a long field of the resource that owns it. Internal: no surface shows it."""

    plural: ClassVar[str] = "rowpages"

    kind: Literal["RowPage"] = "RowPage"
    spec: RowPageSpec
    status: RowPageStatus = Field(default_factory=RowPageStatus)
