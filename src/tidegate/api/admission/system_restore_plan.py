"""What a system restore would do: looks here, decides in `decide`."""

from dataclasses import dataclass
from functools import cached_property

from tidegate.api.admission.restore_planning import looked_at
from tidegate.api.admission.system import about_target
from tidegate.api.services import Services
from tidegate.decide.system.restore import Here, PlannedDefinition, place_of, plan_definitions
from tidegate.decide.system.restore_volumes import FoundBackup, plan_volume, store_of
from tidegate.errors import InvalidInput, NotFound, Refused, TidegateError
from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.format.cfgs.system_backup_cfg import ArchivePlace, split_archive_url
from tidegate.model.resource import Resource
from tidegate.model.restores.restore_plan import Place
from tidegate.model.stores.store_url import same_store
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import DefinitionAction, SystemRestore, VolumeChoice
from tidegate.model.system_archive import DEFINITIONS, ArchivedVolumeBackup, SystemArchive
from tidegate.model.transfers.node import Node
from tidegate.model.volumes.volume import Volume
from tidegate.ports.secrets import access_to


@dataclass(frozen=True)
class FoundArchive:
    """An archive and the target that it is reached through."""

    target: BackupTarget
    place: ArchivePlace


async def admit_system_restore(services: Services, resource: Resource) -> Resource:
    """With its archive found, read and planned: what is shown is what is carried out."""
    assert isinstance(resource, SystemRestore)  # noqa: S101  # see ADMISSIONS
    others = (await services.store.list(SystemRestore)).items
    busy = next((one.name for one in others if not one.status.phase.final and one.name != resource.name), None)
    if busy is not None:
        raise Refused(
            f"system restore {busy} is not over yet", hint=f"wait for it: tidegate system restore wait {busy}"
        )
    found = await _find(services, resource.spec.system_backup)
    with about_target(found.target.name, field="spec.systemBackup"):
        access = await access_to(found.target, services.secrets)
        stored = await services.archives.look(access, found.place)
        archive = await services.archives.read(access, found.place)
    planned = plan_definitions(archive, await _here(services, through=found.target.name))
    known = (await services.store.list(BackupTarget)).items
    finder = _Finder(archive, found.target, stored.target_url, (*known, *_coming_targets(planned)))
    wanted = [one.wanted for one in planned if isinstance(one.wanted, Volume)]
    looks = resource.spec.volumes is not VolumeChoice.NONE
    places = await looked_at(services, [one.spec.path for one in wanted if looks], finder.targets)
    volumes = [
        plan_volume(one, finder.find(one), resource.spec.volumes, places.get(one.spec.path, Place())) for one in wanted
    ]
    return resource.with_status(
        target=found.target.name,
        source_url=found.place.url(found.target.spec.url),
        definitions=tuple(one.row for one in planned),
        volumes=tuple(volumes),
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


async def _here(services: Services, *, through: str) -> Here:
    resources = [one for kind in DEFINITIONS for one in (await services.store.list(kind)).items]
    nodes = frozenset(node.name for node in (await services.store.list(Node)).items)
    return Here({place_of(one): one for one in resources}, nodes, through)


def _coming_targets(planned: tuple[PlannedDefinition, ...]) -> list[BackupTarget]:
    wanted = (one.wanted for one in planned if one.action is DefinitionAction.CREATE)
    return [one for one in wanted if isinstance(one, BackupTarget)]


@dataclass(frozen=True)
class _Finder:
    """Finds the volume backups that an archive names."""

    archive: SystemArchive
    through: BackupTarget
    archive_url: str
    targets: tuple[BackupTarget, ...]

    @cached_property
    def named(self) -> dict[str, ArchivedVolumeBackup]:
        """By NAMESPACE/NAME."""
        return {row.volume: row for row in self.archive.volume_backups}

    def find(self, volume: Volume) -> FoundBackup | str:
        """As it is reached from here, or the sentence why it is not."""
        row = self.named.get(f"{volume.namespace}/{volume.name}")
        if row is None:
            return "the system backup names no backup of it"
        target = store_of(row, self.targets, archive_url=self.archive_url, through=self.through)
        if target is None:
            return f"no target has the store {row.target_url}, where its backup is"
        url = BackupUrl(target.spec.url, row.stored.store_volume, row.stored.store_backup).encode()
        return FoundBackup(row.stored.replace(target=target.name), url)
