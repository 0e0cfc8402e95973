"""What a restore may do to what is there already."""

from enum import StrEnum


class ExistingData(StrEnum):
    """What to do where the destination already holds something."""

    NONE = "none"
    """Leave it alone: a restore to there is refused, and if something comes later, that volume fails."""
    OVERWRITE = "overwrite"
