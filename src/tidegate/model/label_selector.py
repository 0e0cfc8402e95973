"""Choosing volumes by their labels, in the shape that Velero and Kubernetes use."""

from pydantic import Field

from tidegate.model.frozen import Model
from tidegate.model.resource import Labels


class LabelSelector(Model):
    """Volumes that carry all of these labels."""

    match_labels: Labels = Field(default_factory=dict)

    @property
    def words(self) -> str:
        """As a person writes them: `app=shop,tier=db`."""
        return ",".join(f"{key}={value}" for key, value in self.match_labels.items())
