"""`/v1/protection`: which volumes are safe, all of them at once."""

import asyncio

from fastapi import APIRouter, Depends, Request

from tidegate.api.security.auth import require_token, services_of
from tidegate.decide.volumes.protection import protection_of_all
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.volumes.protection import Protection
from tidegate.model.volumes.volume import Volume

router = APIRouter(tags=["volumes"], dependencies=[Depends(require_token)])


@router.get("/protection")
async def get_protection(request: Request) -> Protection:
    """How safe each volume is now: a good backup, young enough for the schedules that cover it."""
    services = services_of(request)
    volumes = (await services.store.list(Volume)).items
    schedules = (await services.store.list(Schedule)).items
    # Of many volumes and schedules it takes a while, and others ask meanwhile.
    return await asyncio.to_thread(protection_of_all, volumes, schedules, now=services.clock.now())
