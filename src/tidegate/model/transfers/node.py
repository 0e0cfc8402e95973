"""Nodes: where movers run."""

from typing import ClassVar, Literal

from pydantic import Field

from tidegate.model.frozen import Model
from tidegate.model.resource import Resource, Spec, Status


class NodeSpec(Spec):
    """Limits are settings, matched by the node's labels; what the machine itself can bear is here."""

    slots: int | None = Field(default=None, ge=1)
    """At most so many transfers at once, whatever the settings allow. Absent: the settings alone decide."""


class NodeLoad(Model):
    """What a node carries now, and what it may carry."""

    running: int
    """Transfers that are InProgress, or that are being stopped there."""
    preparing: int
    """Transfers that are Accepted or Prepared there."""
    limit: int
    limited_by: str
    """Which number gave the limit: the default, `globalConfig`, `perNodeConfig[0] disk=slow`, or the node's slots."""


class NodeStatus(Status):
    """What the node says of itself."""

    ready: bool = False
    """Whether it takes on transfers. One that is gone stays, not ready, because transfers may still name it."""
    load: NodeLoad | None = None
    """Derived when somebody asks; never stored."""


class Node(Resource):
    """A machine that movers run on."""

    plural: ClassVar[str] = "nodes"

    kind: Literal["Node"] = "Node"
    spec: NodeSpec = Field(default_factory=NodeSpec)
    status: NodeStatus = Field(default_factory=NodeStatus)
