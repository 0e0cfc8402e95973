"""Choosing volumes by their labels, in the shape that Velero and Kubernetes use."""

from pydantic import Field

from tidegate.model.frozen import Model
from tidegate.model.resource import Labels


class LabelSelector(Model):
    """Volumes that carry all of these labels."""

    match_labels: Labels = Field(default_factory=dict)
