"""How safe volumes are, for the lists that show volumes and namespaces."""

import asyncio
from collections.abc import Sequence

from tidegate.api.services import Services
from tidegate.decide.volumes.protection import promises, protection_by_namespace, protection_of, protection_of_all
from tidegate.model.resource import Resource
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.volumes.volume import Volume


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
