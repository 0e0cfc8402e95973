"""Bodies about backup targets: ours, or Longhorn's flat fields with keys in any case."""

from collections.abc import Mapping

from tidegate.api.longhorn.bodies import checked, lowered, own_shape
from tidegate.api.longhorn.manners import text_of
from tidegate.api.longhorn.shapes import FLAT_TARGET_FIELDS
from tidegate.errors import InvalidInput
from tidegate.model.resource import Metadata
from tidegate.model.stores.target import BackupTarget

_URL, _SECRET, _INTERVAL = "backuptargeturl", "credentialsecret", "pollinterval"


def own_target(sent: Mapping[str, object]) -> BackupTarget:
    """Our own shape."""
    return own_shape(BackupTarget, sent, beside=FLAT_TARGET_FIELDS)


def new_target(sent: Mapping[str, object]) -> BackupTarget:
    """A target from flat fields."""
    body = lowered(sent)
    name = text_of(body, "name")
    if not name:
        raise InvalidInput("name is missing", field="name")
    if not text_of(body, _URL):
        raise InvalidInput("backupTargetURL is missing", field="backupTargetURL")
    return checked(BackupTarget, {"metadata": {"name": name}, "spec": _spec({}, body)})


def changed_target(target: BackupTarget, sent: Mapping[str, object]) -> BackupTarget:
    """The target with the flat fields that were sent; the others stay."""
    body = lowered(sent)
    if text_of(body, "name") not in {"", target.name}:
        raise InvalidInput("name must be that of the target in the path", field="name")
    if _URL in body and not text_of(body, _URL):
        raise InvalidInput(
            "backupTargetURL is empty", field="backupTargetURL", hint="a target without a store is one to delete"
        )
    metadata = Metadata(
        name=target.name,
        labels=target.metadata.labels,
        annotations=target.metadata.annotations,
        resource_version=target.metadata.resource_version,
    )
    wire = {"metadata": metadata.to_wire(), "spec": _spec(target.spec.to_wire(), body)}
    return checked(BackupTarget, wire)


def _spec(before: Mapping[str, object], body: dict[str, object]) -> dict[str, object]:
    spec = dict(before)
    if _URL in body:
        spec["url"] = text_of(body, _URL)
    if _SECRET in body:
        spec["credentialSecret"] = text_of(body, _SECRET) or None
    if body.get(_INTERVAL) not in {None, ""}:
        spec["pollInterval"] = _interval(body[_INTERVAL])
    return spec


def _interval(value: object) -> str:
    """Whole seconds as Longhorn takes them, or a duration as it shows them."""
    text = str(value).strip()
    return f"{text}s" if text.isascii() and text.isdecimal() else text
