"""The way in for system restores: finds the archive, and shows what a restore of it would do."""

from dataclasses import dataclass

from tidegate.api.admission.system import about_target
from tidegate.api.services import Services
from tidegate.errors import InvalidInput, NotFound, Refused, TidegateError
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace, split_archive_url
from tidegate.model.resource import Resource
from tidegate.model.stores.store_url import same_store
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import ArchiveSource, SystemRestore
from tidegate.ports.secrets import access_to


@dataclass(frozen=True)
class FoundArchive:
    """An archive and the target that it is reached through."""

    target: BackupTarget
    place: ArchivePlace


async def admit_system_restore(services: Services, resource: Resource) -> Resource:
    """With its archive found, and planned for the answer: its controller plans it again, and carries that out."""
    assert isinstance(resource, SystemRestore)  # noqa: S101  # see ADMISSIONS
    others = (await services.store.list(SystemRestore)).items
    busy = next((one.name for one in others if not one.status.phase.final and one.name != resource.name), None)
    if busy is not None:
        raise Refused(
            f"system restore {busy} is not over yet", hint=f"wait for it: tidegate system restore wait {busy}"
        )
    found = await _find(services, resource.spec.system_backup)
    source = ArchiveSource(target=found.target.name, url=found.place.url(found.target.spec.url))
    with about_target(found.target.name, field="spec.systemBackup"):
        plan = await services.restore_plans.plan(source, resource.spec.volumes)
    return resource.with_spec(found=source).with_status(
        target=source.target, source_url=source.url, definitions=plan.definitions, volumes=plan.volumes
    )


async def _find(services: Services, wanted: str) -> FoundArchive:
    """By URL, by the name of one that is known here, or by a name that only the store of a target knows."""
    targets = (await services.store.list(BackupTarget)).items
    if "://" in wanted:
        return _by_url(wanted, targets)
    try:
        known = await services.store.get(SystemBackup, wanted)
    except NotFound:
        return await _in_stores(services, wanted, targets)
    target = next((one for one in targets if one.name == known.spec.target), None)
    if target is None or not known.status.url:
        raise Refused(
            f"system backup {wanted} is {known.status.phase}; only Ready ones can be restored",
            hint=known.status.failure_reason or f"wait for it: tidegate system backup wait {wanted}",
        )
    return FoundArchive(target, ArchivePlace(known.name, known.status.version))


def _by_url(url: str, targets: tuple[BackupTarget, ...]) -> FoundArchive:
    parts = split_archive_url(url)
    if parts is None:
        raise InvalidInput(
            f"{url!r} is not the URL of a system backup",
            field="spec.systemBackup",
            hint="write for example file:///srv/store/backupstore/system-backups/VERSION/NAME",
        )
    store, place = parts
    target = next((one for one in targets if same_store(one.spec.url, store)), None)
    if target is None:
        raise NotFound(f"no backup target has the URL {store}", hint=f"make one: tidegate target create NAME {store}")
    return FoundArchive(target, place)


async def _in_stores(services: Services, name: str, targets: tuple[BackupTarget, ...]) -> FoundArchive:
    found, away = [], []
    for target in targets:
        try:
            places = await services.archives.found(await access_to(target, services.secrets))
        except TidegateError as error:  # another target may have it
            away.append(f"target {target.name} could not be asked: {error.message}")
            continue
        found += [FoundArchive(target, place) for place in places if place.name == name]
    stores = {one.target.spec.url for one in found}
    if len(stores) == 1:
        return found[0]
    if found:
        urls = ", ".join(one.place.url(one.target.spec.url) for one in found)
        raise InvalidInput(
            f"several targets have a system backup {name}", field="spec.systemBackup", hint=f"give one of: {urls}"
        )
    hint = "; ".join(away) or ("make a target for its store: tidegate target create NAME URL" if not targets else "")
    raise NotFound(f"there is no system backup {name}, neither here nor in the store of a target", hint=hint)
