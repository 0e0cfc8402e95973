"""What all models share: frozen, strict about unknown fields, camelCase on the wire."""

from typing import Self

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel


class Model(BaseModel):
    """An immutable value. Change means copy: see `replace`."""

    model_config = ConfigDict(
        frozen=True,
        # A misspelt field is a mistake to be told, not a wish to be ignored.
        extra="forbid",
        alias_generator=to_camel,
        validate_by_name=True,
        validate_by_alias=True,
        serialize_by_alias=True,
        use_attribute_docstrings=True,
    )

    def replace(self, **changes: object) -> Self:
        """A copy with `changes`. Values are taken as they are; a field that does not exist is a bug and raises."""
        unknown = changes.keys() - type(self).model_fields.keys()
        if unknown:
            raise AttributeError(f"{type(self).__name__} has no field {sorted(unknown)}")
        return self.model_copy(update=changes)

    def to_json(self) -> str:
        """The stored form: wire names, absent values left out."""
        return self.model_dump_json(exclude_none=True)

    def to_wire(self) -> dict[str, object]:
        """The same as plain JSON values."""
        return self.model_dump(mode="json", exclude_none=True)
