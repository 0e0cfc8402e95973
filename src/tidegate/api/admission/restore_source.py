"""Looking up what a restore would read; `decide.restores.reading` says what that is."""

from tidegate.api.admission.backup_choice import chosen_backup, uploads_of
from tidegate.api.services import Services
from tidegate.decide.resources.admission import admit_restore
from tidegate.decide.restores.places import Volumes
from tidegate.decide.restores.reading import RestoreSource, source_in_backup, source_in_store
from tidegate.decide.restores.source import source_of
from tidegate.decide.volumes.selection import check_choice
from tidegate.errors import InvalidInput, NotFound
from tidegate.format.cfgs.backup_url import BackupUrl, same_store
from tidegate.format.trees.globs import TreeGlobs
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.stores.target import BackupTarget
from tidegate.model.volumes.volume import Volume
from tidegate.ports.secrets import access_to


async def read_source(services: Services, spec: RestoreSpec) -> RestoreSource:
    """Raises UserError with a sentence where something is wrong with what is asked for."""
    admit_restore(spec)
    if spec.included_paths:
        TreeGlobs(spec.included_paths)  # refuses one that can never match
    if spec.backup_url:
        return await _from_url(services, spec.backup_url)
    backup = await chosen_backup(services, spec.backup_name, schedule=spec.schedule_name)
    uploads = await uploads_of(services, backup)
    found = source_in_backup(spec, backup, uploads)
    check_choice(spec, uploads)
    return found


async def volumes_by_name(services: Services) -> Volumes:
    """All that are defined."""
    return {(volume.namespace, volume.name): volume for volume in (await services.store.list(Volume)).items}


async def _from_url(services: Services, text: str) -> RestoreSource:
    url = BackupUrl.decode(text)
    if not url.backup:
        raise InvalidInput(f"{text!r} names a volume but no backup of it; add backup=NAME", field="spec.backupUrl")
    targets = (await services.store.list(BackupTarget)).items
    target = next((one for one in targets if same_store(one.spec.url, url.target)), None)
    if target is None:
        raise NotFound(
            f"no backup target has the URL {url.target}", hint=f"make one: tidegate target create NAME {url.target}"
        )
    access = await access_to(target, services.secrets)
    stored = await services.store_probe.stored_backup(access, url.volume, url.backup)
    return source_in_store(source_of(stored, target=target.name, store_volume=url.volume, store_backup=url.backup))
