"""How many backups of a schedule to keep."""

from typing import Annotated

from pydantic import Field

from tidegate.model.frozen import Model

Count = Annotated[int, Field(ge=0, le=100_000)]


class Retention(Model):
    """A backup is kept if any of these keeps it. Absent and 0 keep none; periods are those of the schedule's zone."""

    keep_last: Count | None = None
    """The newest ones."""
    keep_hourly: Count | None = None
    """The newest one of each of that many hours that have one; the others are alike."""
    keep_daily: Count | None = None
    keep_weekly: Count | None = None
    """Weeks begin on Monday."""
    keep_monthly: Count | None = None
    keep_yearly: Count | None = None

    @property
    def keeps_something(self) -> bool:
        """Whether there is a rule at all."""
        return any(getattr(self, field) for field in type(self).model_fields)
