"""What a schema refuses, as one sentence that begins with the path of the mistake."""

import difflib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from pydantic import ValidationError
from pydantic_core import ErrorDetails

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
_LONGEST_QUOTE = 40
_MOST_DIGITS = 100
_WANTED = {
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "string_type": "a text in quotes",
    "string_unicode": "a text in quotes",
    "model_type": "an object in braces",
    "dict_type": "an object in braces",
    "tuple_type": "a list in brackets",
    "list_type": "a list in brackets",
    "greater_than_equal": "at least {ge}",
    "less_than_equal": "at most {le}",
    "enum": "{expected}",
}


def duplicate_free(pairs: Sequence[tuple[str, object]]) -> dict[str, object]:
    """For `json.loads`: of two equal keys the last would win in silence, so both are refused."""
    found: dict[str, object] = {}
    for key, value in pairs:
        if key in found:
            raise ValueError(f"the key {quoted(key)} is there twice in one object; remove one of them")
        found[key] = value
    return found


def _sane_number(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits is more than anybody means")
    return int(digits)


def read_json(text: str) -> object:
    """Any JSON; raises ValueError with a sentence for what is none, or is nested too deeply to be meant."""
    try:
        return json.loads(text, object_pairs_hook=duplicate_free, parse_int=_sane_number)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None
    except RecursionError:
        raise ValueError("not JSON that anybody means: it is nested too deeply") from None


def path_text(location: Sequence[str | int]) -> str:
    """`perNodeConfig[1].nodeSelector`; a key that is no plain word is quoted in brackets."""
    path = ""
    for part in location:
        if isinstance(part, str) and _PLAIN_KEY.fullmatch(part):
            path += f".{part}" if path else part
        else:
            path += f"[{part}]" if isinstance(part, int) else f"[{quoted(part)}]"
    return path


def quoted(value: object) -> str:
    """As JSON, and short enough to stand in a sentence."""
    text = json.dumps(value, default=str)
    return text if len(text) <= _LONGEST_QUOTE else f"{text[:_LONGEST_QUOTE]} and so on"


@dataclass(frozen=True)
class Shape:
    """What a document looks like, for those who put a key where it has no meaning."""

    keys: Mapping[str, Sequence[str]]
    """The keys of the objects below each key; below the empty one, those of the document."""
    homes: Mapping[str, str] = field(default_factory=dict)
    """Where keys belong that people put elsewhere."""


def first_mistake(error: ValidationError, shape: Shape) -> str:
    """The first mistake as `path: sentence`."""
    # What somebody wrote says more than what they left out: a key in the wrong place is often both.
    found = min(error.errors(), key=lambda mistake: mistake["type"] == "missing")
    location = [part for part in found["loc"] if part != "[key]"]
    return f"{path_text(location) or 'the document'}: {_sentence(found, shape)}"


def _sentence(mistake: ErrorDetails, shape: Shape) -> str:
    kind = mistake["type"]
    if kind == "extra_forbidden":
        return _misplaced(mistake["loc"], shape)
    if kind == "missing":
        return "is missing"
    wanted = _WANTED[kind].format(**mistake.get("ctx", {})) if kind in _WANTED else ""
    if not wanted:
        return mistake["msg"].removeprefix("Value error, ")
    return f"must be {wanted.replace(chr(39), '')}, not {quoted(mistake['input'])}"


def _misplaced(location: Sequence[str | int], shape: Shape) -> str:
    *above, key = (part for part in location if isinstance(part, str))
    known = shape.keys.get(above[-1] if above else "", ())
    if key in shape.homes:
        return f"belongs into {shape.homes[key]}, not here"
    closest = difflib.get_close_matches(key, known, n=1)
    return "is not a known key here; " + (
        f"perhaps you mean {closest[0]}" if closest else f"known are {', '.join(known)}"
    )
