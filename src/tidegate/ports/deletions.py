"""The promise of deletes: gone from every list at once and for good, carried out when the store can be reached."""

from collections.abc import Sequence
from typing import Protocol

from tidegate.model.stores.deletion import Deletion


class Deletions(Protocol):
    """The one way in which volume backups go, whoever wants them gone. No method waits for a store."""

    async def ask(self, target: str, volume: str, backups: Sequence[str] | None = None) -> Deletion:
        """Delete these backups of a volume, or the whole volume. Durable, and in no list any more, when it returns.

        Asking again for the same returns the deletion that is under way. Whether the store has what is named is not
        asked: what is not there is deleted already. Raises NotFound for an unknown target, InvalidInput for what
        cannot be a name, or for no names at all, and Refused, with the reason, while a restore reads one of them or an
        upload still writes it; then nothing was changed.
        """
        ...

    async def cancel(self, name: str) -> Deletion:
        """Call it off; what it named and is still there is in the lists again when this returns.

        Raises NotFound, and Refused if it has begun, is over, or belongs to a Backup that is being deleted.
        """
        ...

    async def list(self, *, target: str = "", volume: str = "") -> list[Deletion]:
        """Those under way and those that ended lately, the newest first; of one target or one volume if named."""
        ...
