"""Resources as the server sends them: plain JSON, so that newer fields pass through to `-o json` untouched."""

from typing import TYPE_CHECKING, Any, TypeVar

from tidegate.errors import ServerUnreachable

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tidegate.model.frozen import Model
    from tidegate.model.resource import Resource

Wire = dict[str, Any]
R = TypeVar("R", bound="Resource")
M = TypeVar("M", bound="Model")


def name_of(wire: Wire) -> str:
    """The name, without the namespace."""
    return str(wire["metadata"]["name"])


def full_name_of(wire: Wire) -> str:
    """`namespace/name` where there is a namespace."""
    namespace = wire["metadata"].get("namespace")
    return f"{namespace}/{name_of(wire)}" if namespace else name_of(wire)


def uid_of(wire: Wire) -> str:
    """Who it is, for ever."""
    return str(wire["metadata"].get("uid", ""))


def version_of(wire: Wire) -> str:
    """Which state of it this is."""
    return str(wire["metadata"].get("resourceVersion", ""))


def labels_of(wire: Wire) -> dict[str, str]:
    """Its labels."""
    return dict(wire["metadata"].get("labels") or {})


def read_resource(kinds: "Sequence[type[R]]", wire: Wire) -> R:
    """The resource as its model. Fields that only a newer server knows are left out; anything else is refused."""
    kind = next((one for one in kinds if one.model_fields["kind"].default == wire.get("kind")), kinds[0])
    return read_model(kind, wire, str(wire.get("kind")))


def read_model(model: "type[M]", wire: Wire, word: str) -> M:
    """The same for what is no resource; `word` is what to call it."""
    from pydantic import ValidationError

    try:
        return model.model_validate(wire)
    except ValidationError as error:
        known = _without(wire, [problem["loc"] for problem in error.errors() if problem["type"] == "extra_forbidden"])
    try:
        return model.model_validate(known)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        raise ServerUnreachable(
            f"The server sent a {word} that this version does not understand: {path}: {first['msg']}.",
            hint="Compare the versions with: tidegate version. With -o json everything is shown as it came.",
        ) from error


def read_all(kinds: "Sequence[type[R]]", wires: "Iterable[Wire]") -> list[R]:
    """All of them."""
    return [read_resource(kinds, wire) for wire in wires]


def _without(wire: Wire, paths: "list[tuple[int | str, ...]]") -> Wire:
    import copy

    known = copy.deepcopy(wire)
    for path in paths:
        place: Any = known
        for part in path[:-1]:
            place = place[part]
        place.pop(path[-1], None)
    return known
