"""Plans a system restore: reads the archive and looks at what is here; `decide/system` says what that means."""

from dataclasses import dataclass
from functools import cached_property

from tidegate.controllers.reconcile.observation import all_of
from tidegate.decide.stores.places import store_places
from tidegate.decide.system.restore import Here, PlannedDefinition, place_of, plan_definitions
from tidegate.decide.system.restore_volumes import FoundBackup, plan_volume, store_of
from tidegate.errors import NotFound
from tidegate.format.cfgs.backup_url import BackupUrl
from tidegate.format.cfgs.system_backup_cfg import split_archive_url
from tidegate.model.restores.restore_plan import Place
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system_restore import ArchiveSource, DefinitionAction, VolumeChoice
from tidegate.model.system_archive import DEFINITIONS, ArchivedVolumeBackup, SystemArchive
from tidegate.model.transfers.node import Node
from tidegate.model.volumes.volume import Volume
from tidegate.model.volumes.volume_ref import VolumeRef
from tidegate.ports.resource_store import ResourceStore
from tidegate.ports.secrets import SecretStore, access_to
from tidegate.ports.system_archives import SystemArchives
from tidegate.ports.system_restore_plans import SystemRestorePlan
from tidegate.ports.volume_probe import VolumeProbe


@dataclass(frozen=True)
class SystemRestorePlanner:
    """Keeps the promise of SystemRestorePlans."""

    store: ResourceStore
    volume_probe: VolumeProbe
    secrets: SecretStore
    archives: SystemArchives

    async def plan(self, source: ArchiveSource, choice: VolumeChoice) -> SystemRestorePlan:
        """See SystemRestorePlans."""
        through = await self.store.get(BackupTarget, source.target)
        parts = split_archive_url(source.url)
        if parts is None:
            raise NotFound(f"{source.url} is not the URL of a system backup")
        access = await access_to(through, self.secrets)
        stored = await self.archives.look(access, parts[1])
        archive = await self.archives.read(access, parts[1])
        planned = plan_definitions(archive, await here(self.store, through=through.name))
        known = await all_of(self.store, BackupTarget)
        finder = _Finder(archive, through, stored.target_url, (*known, *_coming_targets(planned)))
        wanted = [one.wanted for one in planned if isinstance(one.wanted, Volume)]
        places = await self._looked_at(wanted, finder.targets) if choice is not VolumeChoice.NONE else {}
        volumes = [plan_volume(one, finder.find(one), choice, places.get(one.spec.ref, Place())) for one in wanted]
        return SystemRestorePlan(tuple(one.row for one in planned), tuple(volumes))

    async def _looked_at(self, volumes: list[Volume], targets: tuple[BackupTarget, ...]) -> dict[VolumeRef, Place]:
        keep_out = store_places(targets)
        goals = dict.fromkeys(volume.spec.ref for volume in volumes)
        return {goal: await self.volume_probe.look_at(goal, keep_out=keep_out) for goal in goals}


async def here(store: ResourceStore, *, through: str) -> Here:
    """The system that the archive comes to; `through` is the target that leads to it."""
    resources = [one for kind in DEFINITIONS for one in await all_of(store, kind)]
    nodes = frozenset(node.name for node in await all_of(store, Node))
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
