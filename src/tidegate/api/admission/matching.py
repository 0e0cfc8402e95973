"""Looking at the volumes that a selection is about: looks here, decides in `decide.matching`."""

from tidegate.api.services import Services
from tidegate.decide.queue.overlap import is_glob
from tidegate.decide.volumes.matching import Match, match
from tidegate.model.backups.backup import BackupSpec
from tidegate.model.resource import Resource
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.volumes.volume import Volume


async def match_now(services: Services, spec: BackupSpec) -> Match:
    """What it matches as things are. The volumes of other namespaces are read only where a name is not found."""
    if spec.included_namespaces and not any(map(is_glob, spec.included_namespaces)):
        reach = [
            volume
            for namespace in dict.fromkeys(spec.included_namespaces)
            for volume in (await services.store.list(Volume, namespace=namespace)).items
        ]
        found = match(spec, reach)
        if not found.at_creation:
            return found
    return match(spec, (await services.store.list(Volume)).items)


async def with_unmatched(services: Services, resource: Resource) -> Resource:
    """A schedule with what its template asks for in vain, as things are; anything else as it is."""
    if not isinstance(resource, Schedule) or resource.spec.system_backup is not None:
        return resource
    return resource.with_status(unmatched=(await match_now(services, resource.spec.template)).at_creation)
