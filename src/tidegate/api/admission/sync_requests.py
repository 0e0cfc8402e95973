"""Asking for a sync, of targets and of single volumes. Nobody waits here: how it goes is in the status."""

from tidegate.api.admission.changes import changed
from tidegate.api.services import Services
from tidegate.decide.stores.sync_schedule import forecast_while_away
from tidegate.errors import InvalidInput, Refused
from tidegate.format.cfgs.paths import check_name
from tidegate.model.stores.catalogue_status import SyncForecast, VolumeSync
from tidegate.model.stores.target import CONFIRM_VANISHED, BackupTarget
from tidegate.ports.catalogue_syncs import CatalogueSyncs


async def sync_target(services: Services, name: str, *, confirm: str = "") -> BackupTarget:
    """Ask for a sync of the whole target; with `confirm`, say that what the last one held back is really gone.

    The request is stored, so a restart does not forget it. Asking again while one runs means one more after it.
    """

    def asked(target: BackupTarget) -> BackupTarget:
        wanted = target.replace(spec=target.spec.replace(sync_requested_at=services.clock.now()))
        if not confirm:
            return wanted
        _check_confirmation(target, confirm)
        return wanted.with_metadata(annotations={**target.metadata.annotations, CONFIRM_VANISHED: confirm})

    return await changed(services.store, BackupTarget, name, asked)


def _check_confirmation(target: BackupTarget, confirm: str) -> None:
    held = target.status.sync.vanished
    if not held:
        raise Refused(f"nothing is held back in target {target.name}; there is nothing to confirm")
    if confirm != held:
        raise InvalidInput(
            f"what is held back in target {target.name} is {held}, not {confirm[:80]!r}",
            field="confirmVanished",
            hint="look at it again: tidegate target describe " + target.name,
        )


async def sync_volume(services: Services, target: str, volume: str) -> VolumeSync:
    """Ask for a sync of one volume, also of one that the catalogue has not seen yet."""
    found = await _check(services, target, volume)
    syncs = _syncs(services)
    syncs.request(target, volume, forced=True)
    asked = syncs.volume_sync(target, volume)
    return asked if found.status.available is not False else asked.replace(forecast=forecast_while_away())


async def sync_forecast(services: Services, target: BackupTarget) -> SyncForecast:
    """When the sync begins that was just asked for."""
    return await _syncs(services).forecast(target)


async def volume_sync_of(services: Services, target: str, volume: str) -> VolumeSync:
    """How that goes."""
    await _check(services, target, volume)
    return _syncs(services).volume_sync(target, volume)


async def _check(services: Services, target: str, volume: str) -> BackupTarget:
    check_name(volume, what="volume")
    return await services.store.get(BackupTarget, target)


def _syncs(services: Services) -> CatalogueSyncs:
    if services.syncs is None:
        raise Refused("this server keeps no catalogue")
    return services.syncs
