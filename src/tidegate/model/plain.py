"""Values that a mover needs, without pydantic: loading it takes longer than proving that a volume is unchanged.

They look the same on the wire as the models do (camelCase, absent values left out, unknown fields refused), and may be
fields of models.
"""

import json
from collections.abc import Callable, Hashable, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType
from typing import Any, ClassVar, Literal, Self, TypeVar, get_args, get_origin, get_type_hints

from tidegate.errors import InvalidInput

T = TypeVar("T")


def to_camel(name: str) -> str:
    """`bytes_done` is `bytesDone` on the wire."""
    first, *others = name.split("_")
    return first + "".join(word.capitalize() for word in others)


@dataclass(frozen=True)
class Plain:
    """An immutable value. Change means copy: see `replace`."""

    # Read by pydantic where a value is a field of a model; the same as for models (`frozen.py`).
    __pydantic_config__: ClassVar[dict[str, Any]] = {
        "extra": "forbid",
        "alias_generator": to_camel,
        "validate_by_name": True,
        "validate_by_alias": True,
        "serialize_by_alias": True,
        "use_attribute_docstrings": True,
    }

    def replace(self, **changes: Any) -> Self:  # noqa: ANN401  # whatever the fields are
        """A copy with `changes`. Values are taken as they are; a field that does not exist is a bug and raises."""
        return replace(self, **changes)

    def to_json(self) -> str:
        """One line: wire names, absent values left out."""
        return json.dumps(_wire_form(self), separators=(",", ":"))


def read_json(kinds: Mapping[str, type[T]], text: bytes, *, told_by: str) -> T:
    """The value in this text. Which of `kinds` it is, its field `told_by` says; raises InvalidInput with a sentence."""
    try:
        wire = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput("it is not a JSON document") from error
    name = wire.get(told_by) if isinstance(wire, dict) else None
    if not isinstance(name, str) or name not in kinds:
        raise InvalidInput(f"{told_by} should be {' or '.join(kinds)}", field=told_by)
    value: T = _read_fields(kinds[name], wire, "")
    return value


def _wire_form(value: object) -> object:
    if is_dataclass(value):
        given = {field.name: getattr(value, field.name) for field in fields(value)}
        return {to_camel(name): _wire_form(item) for name, item in given.items() if item is not None}
    if isinstance(value, tuple | list):
        return [_wire_form(item) for item in value]
    return value.isoformat() if isinstance(value, datetime) else value


def _read_fields(kind: type[Any], wire: object, place: str) -> Any:  # noqa: ANN401  # what the type says
    if not isinstance(wire, dict):
        raise _wrong(place, "an object")
    given = dict(wire)
    values: dict[str, object] = {}
    hints = _hints(kind)  # type: ignore[arg-type]  # a type is hashable
    for field in fields(kind):
        where = f"{place}.{field.name}" if place else field.name
        for name in {field.name, to_camel(field.name)} & given.keys():
            values[field.name] = _read(hints[field.name], given.pop(name), where)
        if field.name not in values and field.default is MISSING and field.default_factory is MISSING:
            raise InvalidInput(f"{where} is missing", field=where)
    if given:
        # A misspelt field is a mistake to be told, not a wish to be ignored.
        unknown = ", ".join(sorted(map(str, given)))
        raise InvalidInput(f"there is no field {unknown}" + (f" in {place}" if place else ""), field=place)
    return kind(**values)


@cache
def _hints(kind: Hashable) -> dict[str, Any]:
    return get_type_hints(kind)


def _read(hint: Any, wire: Any, place: str) -> Any:  # noqa: ANN401  # what the hint says
    choices = get_args(hint)
    if NoneType in choices:
        (inner,) = set(choices) - {NoneType}
        return None if wire is None else _read(inner, wire, place)
    if get_origin(hint) is Literal:
        if not any(type(wire) is type(choice) and wire == choice for choice in choices):
            raise _wrong(place, " or ".join(map(str, choices)))
        return wire
    if (sequence := get_origin(hint)) in {tuple, list} and isinstance(wire, list):
        return sequence(_read(choices[0], item, place) for item in wire)
    if get_origin(hint) is dict and isinstance(wire, dict):
        return {_read(str, key, place): _read(choices[1], item, place) for key, item in wire.items()}
    if isinstance(hint, type) and is_dataclass(hint):
        return _read_fields(hint, wire, place)
    return _read_one(hint, wire, place)


def _read_one(hint: Any, wire: Any, place: str) -> object:  # noqa: ANN401  # the same
    if isinstance(hint, type) and issubclass(hint, Enum):
        if wire not in [choice.value for choice in hint]:
            raise _wrong(place, " or ".join(str(choice.value) for choice in hint))
        return hint(wire)
    if hint not in _SIMPLE:
        raise _wrong(place, "a list" if get_origin(hint) in {tuple, list} else "an object")
    read, words = _SIMPLE[hint]
    value = read(wire)
    if value is None:
        raise _wrong(place, words)
    return value


def _moment(wire: object) -> datetime | None:
    try:
        moment = datetime.fromisoformat(str(wire))
    except ValueError:
        return None
    return moment if moment.tzinfo else None


def _number(wire: object) -> float | None:
    return wire if isinstance(wire, int | float) and not isinstance(wire, bool) else None


# How each type is read (None: it is not one), and what one is called.
_SIMPLE: dict[object, tuple[Callable[[Any], object], str]] = {
    str: (lambda wire: wire if isinstance(wire, str) else None, "a text"),
    bool: (lambda wire: wire if isinstance(wire, bool) else None, "true or false"),
    int: (lambda wire: wire if type(wire) is int else None, "a whole number"),
    float: (_number, "a number"),
    datetime: (_moment, "a time with its zone, such as 2026-01-31T12:00:00Z"),
}


def _wrong(place: str, words: str) -> InvalidInput:
    return InvalidInput(f"{place or 'it'} should be {words}", field=place)
