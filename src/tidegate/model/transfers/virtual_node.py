"""Nodes that a file names, all of them on one machine: to try rules and limits without a cluster."""

from pydantic import Field, TypeAdapter, ValidationError

from tidegate.model.frozen import Model
from tidegate.model.mistakes import Shape, first_mistake, read_json
from tidegate.model.names import LONGEST_LABEL, Name
from tidegate.model.resource import Labels

HOSTNAME_LABEL = "kubernetes.io/hostname"


class VirtualNode(Model):
    """One node of the file."""

    name: Name = Field(max_length=LONGEST_LABEL)
    """Also its host name label, so it is no longer than a label may be."""
    labels: Labels = Field(default_factory=dict)
    slots: int | None = Field(default=None, ge=1, le=1_000_000, strict=True)
    """At most so many transfers at once, whatever the settings allow."""

    @property
    def all_labels(self) -> dict[str, str]:
        """With the host name that rules know nodes by, unless the file gives another one."""
        return {HOSTNAME_LABEL: self.name, **self.labels}


_NODES = TypeAdapter(tuple[VirtualNode, ...])
_SHAPE = Shape(keys={"": tuple(VirtualNode.model_fields)})


def parse_virtual_nodes(text: str) -> tuple[VirtualNode, ...]:
    """Read `[{"name": "node-a", "labels": {...}, "slots": 2}, ...]`; raises ValueError with the path of the mistake."""
    try:
        nodes = _NODES.validate_python(read_json(text))
    except ValidationError as error:
        raise ValueError(first_mistake(error, _SHAPE)) from None
    if not nodes:
        raise ValueError("the document: names no node; name at least one")
    places: dict[str, int] = {}
    for place, node in enumerate(nodes):
        first = places.setdefault(node.name, place)
        if first != place:
            raise ValueError(f"[{place}].name: {node.name} is already the name of [{first}]")
    return nodes
