"""Finding what a restore would meet: looks here, decides in `decide.restore_plan`."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from tidegate.api.admission.restore_source import read_source, volumes_by_name
from tidegate.api.services import Services
from tidegate.decide.restores.places import Placement, Volumes
from tidegate.decide.restores.plan import PlanSurroundings, check_conflicts, plan_restore
from tidegate.decide.restores.reading import RestoreSource
from tidegate.decide.stores.places import store_places
from tidegate.errors import NotFound
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.restores.restore_plan import Place
from tidegate.model.stores.catalogue import BackupState
from tidegate.model.stores.target import BackupTarget
from tidegate.model.transfers.transfer import TransferSpec
from tidegate.model.volumes.volume_ref import VolumeRef

# As many places are looked at; of a thousand conflicts nobody reads the rest.
_MOST_LOOKS = 1000


@dataclass(frozen=True)
class RestoreSight:
    """What a restore would read, where that would go, and what is there now."""

    source: RestoreSource
    volumes: Volumes
    placements: list[Placement]
    places: Mapping[VolumeRef, Place]


async def look_ahead(services: Services, spec: RestoreSpec) -> RestoreSight:
    """Look at the source and at every place; raises UserError where something is wrong with what is asked for."""
    source = await read_source(services, spec)
    volumes = await volumes_by_name(services)
    broken = await _broken(services, source.wanted)
    found = source.placed(spec, volumes, broken=broken)
    return RestoreSight(source, volumes, found, await _looks(services, found))


async def source_without_conflicts(services: Services, spec: RestoreSpec) -> RestoreSource:
    """What is read; raises Refused with the conflicts that a plan would tell.

    They are those of this moment: a mover looks again before it writes.
    """
    seen = await look_ahead(services, spec)
    around = PlanSurroundings(places=seen.places, sizes=seen.source.sizes)
    check_conflicts(plan_restore(spec, seen.placements, around, backup=seen.source.backup))
    return seen.source


async def _broken(services: Services, sources: Iterable[TransferSpec]) -> dict[str, str]:
    """What is wrong with them, by the name of the volume backup; what the catalogue does not know may be good."""
    catalogue, found = services.catalogue, {}
    if catalogue is None:
        return {}
    for source in sources:
        with suppress(NotFound):
            known = await catalogue.backup(source.target, source.store_volume, source.store_backup)
            if known.record.state is BackupState.ERROR:
                found[source.store_backup] = known.record.messages.get("error", "it is damaged")
    return found


async def looked_at(
    services: Services, volumes: Iterable[VolumeRef], targets: Iterable[BackupTarget]
) -> dict[VolumeRef, Place]:
    """What is there now; the stores of these targets are in the way of what touches them."""
    stores = store_places(targets)
    return {volume: await services.volume_probe.look_at(volume, keep_out=stores) for volume in volumes}


async def _looks(services: Services, found: Iterable[Placement]) -> dict[VolumeRef, Place]:
    goals = list(dict.fromkeys(placement.to for placement in found if placement.to))[:_MOST_LOOKS]
    places = await looked_at(services, goals, (await services.store.list(BackupTarget)).items)
    users = await services.volume_probe.users_of([goal for goal, place in places.items() if place.full])
    return places | {goal: places[goal].replace(used_by=user) for goal, user in users.items()}
