"""Looking at the volumes that a selection is about: looks here, decides in `decide.matching`."""

from tidegate.api.services import Services
from tidegate.decide.matching import Match, match
from tidegate.decide.overlap import is_glob
from tidegate.model.backup import BackupSpec
from tidegate.model.volume import Volume


async def match_now(services: Services, spec: BackupSpec) -> Match:
    """What it matches as things are. The volumes of other namespaces are read only where a name is not found."""
    if spec.included_namespaces and not any(map(is_glob, spec.included_namespaces)):
        reach = [
            volume
            for namespace in dict.fromkeys(spec.included_namespaces)
            for volume in (await services.store.list(Volume, namespace=namespace)).items
        ]
        found = match(spec, reach)
        if not found.unmatched:
            return found
    return match(spec, (await services.store.list(Volume)).items)
