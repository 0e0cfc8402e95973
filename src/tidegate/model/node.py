"""Nodes: where movers run."""

from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.resource import Resource, Spec, Status


class NodeSpec(Spec):
    """Limits are settings, matched by the node's labels; what the machine itself can bear is here."""

    slots: int | None = Field(default=None, ge=1)
    """At most so many transfers at once, whatever the settings allow. Absent: the settings alone decide."""


class NodeStatus(Status):
    """What the node says of itself."""

    ready: bool = False


class Node(Resource):
    """A machine that movers run on."""

    plural: ClassVar[str] = "nodes"

    kind: Literal["Node"] = "Node"
    spec: NodeSpec = Field(default_factory=NodeSpec)
    status: NodeStatus = Field(default_factory=NodeStatus)
