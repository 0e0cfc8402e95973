"""What is known about whether a backup restores: kept on the backup itself, so that it outlives the verification."""

from datetime import datetime

from tidegate.model.frozen import Model


class VerificationRecord(Model):
    """The last proof, and the last failure since; a backup that is proven again has no failure."""

    verified_at: datetime | None = None
    verified_by: str | None = None
    """Name of the verification."""
    volumes: int = 0
    bytes: int = 0
    """How much was restored, read back and found to be what was backed up."""
    checked_with: str | None = None
    """The command that looked at it besides."""
    failed_at: datetime | None = None
    failed_by: str | None = None
    failure: str | None = None
