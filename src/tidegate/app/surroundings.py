"""Looks at this machine and at stores, in threads, for the API and the target reconciler."""

import asyncio

from tidegate.model.mover_job import TargetAccess
from tidegate.model.volume import VolumeSpec
from tidegate.objects.backoff import HURRIED
from tidegate.objects.open import open_store
from tidegate.volumes.measure import measure


class LocalSurroundings:
    """Keeps the promise of Surroundings for the machine that the server runs on."""

    async def check_volume(self, spec: VolumeSpec) -> int:
        """Measure it."""
        return await asyncio.to_thread(measure, spec)

    async def check_target(self, access: TargetAccess) -> None:
        """Open the store and list its root: what the first backup will do."""

        def look() -> None:
            open_store(access, patience=HURRIED).list_level("")

        await asyncio.to_thread(look)
