"""Looks at the volumes of the machine that the server runs on, in threads."""

import asyncio
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import assert_never

from tidegate.app.machine.daemon_threads import in_daemon_thread
from tidegate.app.machine.in_time import in_time
from tidegate.errors import StoreUnavailable
from tidegate.model.restores.restore_plan import Place
from tidegate.model.volumes.kept_place import KeptPlace, data_directory
from tidegate.model.volumes.volume_ref import Claim, Device, Directory, Image, VolumeRef
from tidegate.volumes.kept_places import touched
from tidegate.volumes.measure import measure
from tidegate.volumes.places import look_with_room, users_of


class LocalVolumeProbe:
    """Keeps the promise of VolumeProbe for one machine."""

    def __init__(self, *, own: Path | None = None) -> None:
        """`own` is the server's data directory, where nothing may be restored to."""
        self._own = own

    async def measure(self, volume: VolumeRef) -> int:
        """Measure it."""
        return await asyncio.to_thread(measure, volume)

    async def look_at(self, volume: VolumeRef, *, keep_out: Sequence[KeptPlace] = ()) -> Place:
        """Look."""
        if isinstance(volume, Claim):
            return Place(in_the_way=volume.not_here)
        own = (data_directory(str(self._own)),) if self._own else ()
        return await asyncio.to_thread(_seen_at, volume.path, (*own, *keep_out))

    async def users_of(self, volumes: Sequence[VolumeRef]) -> Mapping[VolumeRef, str]:
        """Look once for all of them."""
        here = [volume for volume in volumes if not isinstance(volume, Claim)]
        users = await asyncio.to_thread(users_of, [volume.path for volume in here])
        return {volume: users[volume.path] for volume in here if volume.path in users}

    async def changed_since(self, volume: VolumeRef, moment: datetime) -> bool:
        """Look at times of change; a device has none."""
        match volume:
            case Directory(path) | Image(path):
                look = in_daemon_thread(lambda: newest_change(path) >= moment.timestamp(), name="look at a volume")
                try:
                    return await in_time(look, path)
                except (OSError, StoreUnavailable):
                    return True
            case Device() | Claim():
                return True
            case _:
                assert_never(volume)


def _seen_at(path: str, keep_out: Sequence[KeptPlace]) -> Place:
    place = look_with_room(path)
    kept = touched(path, keep_out)
    return place.replace(in_the_way=f"it {kept.sentence}") if kept else place


def newest_change(path: str) -> float:
    """When anything at or below the path was last changed, in seconds; raises OSError if that cannot be told.

    By the time of change that a program cannot set back; of a file that was removed its directory tells.
    """
    newest = Path(path).stat().st_ctime
    if not Path(path).is_dir():
        return newest
    for directory, _, files in os.walk(path, onerror=_raise):
        place = Path(directory)
        newest = max(newest, place.lstat().st_ctime, *((place / name).lstat().st_ctime for name in files), 0.0)
    return newest


def _raise(error: OSError) -> None:
    raise error
