"""JSON as Longhorn's Go code writes and reads it.

Written: compact, fields in the given order, maps sorted, `<`, `>` and `&` escaped. Read: field names match in any
case, the last duplicate wins, unknown fields and anything behind the first value are ignored, null means absent.
Everything else that is not as it should be is DamagedMetadata, with a sentence that names the file and the field.
"""

import json
import re
from collections.abc import Mapping
from typing import NoReturn

from tidegate.errors import DamagedMetadata

_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_ESCAPED = re.compile("[<>&\u2028\u2029]")
_DECIMAL = re.compile(r"-?[0-9]{1,19}")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_SPACE = re.compile(r"[ \t\r\n]*")
_LARGEST_INT64 = 2**63 - 1


def whole_characters(text: str) -> str:
    """The text with a sign of doubt for each half of a pair that JSON can tell alone, as Go reads it.

    No file, database or terminal takes such a half: one cfg that holds it would stop whoever reads the whole store.
    """
    return text if text.isascii() else _HALF_CHARACTER.sub("\ufffd", text)


class Pairs(list[tuple[str, object]]):
    """A JSON object as it was written: in order, with duplicates."""


def encode_json(value: object) -> bytes:
    """The bytes that Go's encoder would write for this value."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # A lone surrogate cannot be written; Go would have replaced it too.
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text).encode("utf-8", "replace")


def encode_document(value: object) -> str:
    """The text that Longhorn's commands print: the same, over many lines, indented by tabs."""
    text = json.dumps(value, ensure_ascii=False, indent="\t", allow_nan=False)
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], text)


def sorted_map(entries: Mapping[str, str]) -> dict[str, str]:
    """A map in the order in which Go writes its keys."""
    return dict(sorted(entries.items(), key=lambda entry: entry[0].encode("utf-8", "replace")))


def double_encoded(text: str) -> str:
    """A JSON string to be put into a JSON string: how volume.cfg holds five of its fields."""
    return encode_json(text).decode()


def decode_json(body: bytes, *, what: str) -> "Fields":
    """The first value in `body`, which must be an object. `what` names the file in errors."""
    # Go replaces bytes that are not UTF-8 instead of failing; names are checked where they are used.
    text = body.decode("utf-8", "replace")
    begin = _SPACE.match(text)
    try:
        value, _ = _DECODER.raw_decode(text, begin.end() if begin else 0)
    except (ValueError, RecursionError) as error:
        raise DamagedMetadata(f"{what} is not valid JSON: {error}") from error
    if not isinstance(value, Pairs):
        raise DamagedMetadata(f"{what} does not hold a JSON object")
    return Fields(value, what=what)


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(object_pairs_hook=Pairs, parse_constant=_no_constant)


class Fields:
    """The fields of one object, each read as the type that it must have."""

    def __init__(self, pairs: Pairs, *, what: str) -> None:
        self.pairs = pairs
        self._values = {name.casefold(): value for name, value in pairs}
        self._what = what

    def has(self, name: str) -> bool:
        """Whether it is there, and not null."""
        return self._get(name) is not None

    def says(self, name: str, text: str) -> bool:
        """Whether it is exactly this string."""
        return self._get(name) == text

    def text(self, name: str) -> str:
        """A string, empty if absent."""
        value = self._get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise self._wrong(name, "a string")
        return whole_characters(value)

    def double_text(self, name: str) -> str:
        """A JSON string inside a JSON string, empty if absent."""
        outer = self._get(name)
        if outer is None:
            return ""
        try:
            inner = json.loads(outer) if isinstance(outer, str) else outer
        except (ValueError, RecursionError):
            inner = 0
        if inner is None:
            return ""
        if not isinstance(outer, str) or not isinstance(inner, str):
            raise self._wrong(name, "a JSON string inside a JSON string")
        return whole_characters(inner)

    def decimal(self, name: str) -> int:
        """A whole number written as a string, not negative, 0 if absent."""
        value = self._get(name)
        if value is None:
            return 0
        if not isinstance(value, str) or not _DECIMAL.fullmatch(value) or not 0 <= int(value) <= _LARGEST_INT64:
            raise self._wrong(name, "a whole number written as a string")
        return int(value)

    def number(self, name: str) -> int:
        """A bare whole number, not negative, 0 if absent."""
        value = self._get(name)
        if value is None:
            return 0
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _LARGEST_INT64:
            raise self._wrong(name, "a whole number")
        return value

    def flag(self, name: str) -> bool:
        """True or false, false if absent."""
        value = self._get(name)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise self._wrong(name, "true or false")
        return value

    def text_map(self, name: str) -> dict[str, str]:
        """Strings by string, empty if absent. A null value is an empty string, as for Go."""
        value = self._get(name)
        if value is None:
            return {}
        if not isinstance(value, Pairs):
            raise self._wrong(name, "an object of strings")
        entries = {key: "" if entry is None else entry for key, entry in value}
        if not all(isinstance(entry, str) for entry in entries.values()):
            raise self._wrong(name, "an object of strings")
        return {whole_characters(key): whole_characters(str(entry)) for key, entry in entries.items()}

    def nested(self, name: str) -> "Fields":
        """An object, without fields if absent."""
        value = self._get(name)
        if value is None:
            return Fields(Pairs(), what=self._what)
        if not isinstance(value, Pairs):
            raise self._wrong(name, "an object")
        return Fields(value, what=f"{name} in {self._what}")

    def nested_list(self, name: str) -> list["Fields"]:
        """A list of objects, empty if absent."""
        value = self._get(name)
        if value is None:
            return []
        if not isinstance(value, list) or isinstance(value, Pairs) or not all(isinstance(one, Pairs) for one in value):
            raise self._wrong(name, "a list of objects")
        return [Fields(one, what=f"{name} in {self._what}") for one in value]

    def _get(self, name: str) -> object:
        return self._values.get(name.casefold())

    def _wrong(self, name: str, right: str) -> DamagedMetadata:
        return DamagedMetadata(f"{self._what}: {name} should be {right}")
