"""Which volumes are safe, asked of all of them at once or shown with each."""

import asyncio
from collections.abc import Sequence

from fastapi import APIRouter, Depends, Request

from tidegate.api.auth import require_token, services_of
from tidegate.api.services import Services
from tidegate.decide.protection import promises, protection_by_namespace, protection_of, protection_of_all
from tidegate.model.protection import Protection
from tidegate.model.resource import Resource
from tidegate.model.schedule import Schedule
from tidegate.model.volume import Volume

router = APIRouter(tags=["volumes"], dependencies=[Depends(require_token)])


@router.get("/protection")
async def get_protection(request: Request) -> Protection:
    """How safe each volume is now: a good backup, young enough for the schedules that cover it."""
    services = services_of(request)
    volumes = (await services.store.list(Volume)).items
    schedules = (await services.store.list(Schedule)).items
    # Of many volumes and schedules it takes a while, and others ask meanwhile.
    return await asyncio.to_thread(protection_of_all, volumes, schedules, now=services.clock.now())


async def with_protection_inside(services: Services, resources: Sequence[Resource]) -> list[Resource]:
    """The namespaces, each with how safe its volumes are now."""
    only = resources[0].name if len(resources) == 1 else None
    volumes = (await services.store.list(Volume, namespace=only)).items
    schedules = (await services.store.list(Schedule)).items
    judged = await asyncio.to_thread(protection_of_all, volumes, schedules, now=services.clock.now())
    counts = protection_by_namespace(judged)
    return [resource.with_status(protection=counts.get(resource.name, {})) for resource in resources]


async def with_protection(services: Services, resources: Sequence[Resource]) -> list[Resource]:
    """The volumes, each with how safe it is now."""
    volumes = [resource for resource in resources if isinstance(resource, Volume)]
    found = promises(volumes, (await services.store.list(Schedule)).items, now=services.clock.now())
    return [volume.with_status(protection=protection_of(volume, found)) for volume in volumes]
