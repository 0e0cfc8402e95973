"""Bodies that may be ours or Longhorn's: which of both one is, and reading ours with what Longhorn's fields add."""

from collections.abc import Collection, Mapping
from typing import TypeVar

from pydantic import ValidationError

from tidegate.api.problems import describe_mistake
from tidegate.errors import InvalidInput
from tidegate.model.resource import Resource

R = TypeVar("R", bound=Resource)


def speaks_longhorn(sent: Mapping[str, object]) -> bool:
    """Whether it has nothing of our own shape."""
    return "metadata" not in sent and "spec" not in sent


def own_shape(kind: type[R], sent: Mapping[str, object], *, beside: Collection[str]) -> R:
    """Our own shape; the flat fields that an answer has beside it are passed over, so that it can be sent back."""
    return checked(kind, {key: value for key, value in sent.items() if key not in beside})


def lowered(sent: Mapping[str, object]) -> dict[str, object]:
    """With keys in lower case: Longhorn takes them in any."""
    return {key.lower(): value for key, value in sent.items()}


def checked(kind: type[R], wire: Mapping[str, object]) -> R:
    """The resource; raises InvalidInput that names the first mistake and says how many more there are."""
    try:
        return kind.model_validate(wire)
    except ValidationError as error:
        found = error.errors()
        field, sentence = describe_mistake(dict(found[0]))
        more = f" ({len(found) - 1} more)" if len(found) > 1 else ""
        raise InvalidInput(f"{sentence}{more}", field=field) from None
