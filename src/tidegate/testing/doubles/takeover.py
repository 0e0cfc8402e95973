"""A server that follows no other one."""

from tidegate.model.resource import Ref


class NothingToTakeOver:
    """No transfer was begun by another server."""

    async def begin(self) -> None:
        """Know that at once."""

    def holds(self, _transfer: Ref) -> bool:
        """None."""
        return False
