"""Scratch places as directories: below the data directory, or where the operator wishes."""

import asyncio
import os
from pathlib import Path

from tidegate.disk.in_use import mounts_below
from tidegate.errors import DestinationUnusable
from tidegate.model.names import check_name
from tidegate.volumes.workplace import remove, writing_to

_PREFIX = "tidegate-verify-"
# The server's own database may be in the same file system, and must never find it full.
_KEPT_FREE_BYTES = 1024**3


class ScratchFiles:
    """Keeps the promise of ScratchRoom on this machine."""

    def __init__(self, own: Path, *, kept_free_bytes: int = _KEPT_FREE_BYTES) -> None:
        self._own = own
        self._kept_free_bytes = kept_free_bytes

    def place(self, wished: str, uid: str) -> str:
        """See ScratchRoom."""
        return str((Path(wished) if wished else self._own) / f"{_PREFIX}{check_name(uid)}")

    async def free_bytes(self, place: str) -> int:
        """See ScratchRoom."""
        return await asyncio.to_thread(self._free_bytes, place)

    async def remove(self, place: str) -> None:
        """See ScratchRoom."""
        await asyncio.to_thread(_remove, place)

    def _free_bytes(self, place: str) -> int:
        with writing_to(place):
            # Ours alone: what is restored here was perhaps readable by its owner only.
            Path(place).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            Path(place).mkdir(mode=0o700, exist_ok=True)
            found = os.statvfs(place)
        return max(found.f_bavail * found.f_frsize - self._kept_free_bytes, 0)


def _remove(place: str) -> None:
    if not Path(place).name.startswith(_PREFIX):
        raise DestinationUnusable(f"{place} is not a scratch place; nothing was removed")
    if os.path.ismount(place) or mounts_below(place):
        # Removing would go on into whatever a check command mounted there.
        raise DestinationUnusable(f"{place} cannot be removed: something is mounted there", hint="unmount it")
    remove(place)
    if os.path.lexists(place):
        raise DestinationUnusable(f"{place} cannot be removed", hint="look at it, and remove it by hand")
