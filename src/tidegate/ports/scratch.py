"""Room in which backups are restored to be looked at, and nothing else."""

from typing import Protocol

from tidegate.errors import DestinationUnusable


class ScratchRoom(Protocol):
    """Directories that belong to one verification each. Nothing of a volume is ever there that is not a copy."""

    def place(self, wished: str, uid: str) -> str:
        """The directory for this verification, in the directory that was wished for, or in our own. Makes nothing."""
        ...

    async def free_bytes(self, place: str) -> int:
        """How much can be written there, what must stay free for the server itself not counted.

        Makes the directory around it. Raises DestinationUnusable with a sentence.
        """
        ...

    async def remove(self, place: str) -> None:
        """Remove everything; no error if it is not there. Raises DestinationUnusable if something is left.

        Never follows a link or goes into another file system.
        """
        ...


class NoScratch:
    """Has no room: for whoever verifies nothing."""

    def place(self, _wished: str, uid: str) -> str:
        """See ScratchRoom."""
        return uid

    async def free_bytes(self, _place: str) -> int:
        """See ScratchRoom."""
        raise DestinationUnusable("this server has no room to restore for verifications")

    async def remove(self, _place: str) -> None:
        """See ScratchRoom."""
