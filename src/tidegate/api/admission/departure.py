"""The way out: what must not be deleted while something else needs it."""

from collections.abc import Awaitable, Callable

from tidegate.api.services import Services
from tidegate.errors import Refused
from tidegate.model.backups.backup import Backup
from tidegate.model.resource import Resource
from tidegate.model.restores.restore import Restore
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore
from tidegate.model.transfers.transfer import TRANSFERS
from tidegate.model.verification.verification import Verification
from tidegate.model.volumes.volume import Namespace, Volume


async def _backup_may_go(services: Services, backup: Resource) -> None:
    requests: list[Restore | Verification] = [
        *(await services.store.list(Restore)).items,
        *(await services.store.list(Verification)).items,
    ]
    readers = [r for r in requests if r.source_backup == backup.name and not r.status.phase.final]
    if readers:
        reader = f"{readers[0].kind.lower()} {readers[0].name}"
        raise Refused(f"{reader} is reading backup {backup.name}", hint="wait for it, or delete it first")


async def _volume_may_go(services: Services, volume: Resource) -> None:
    for kind in TRANSFERS:
        for transfer in (await services.store.list(kind)).items:
            same = (transfer.spec.volume_namespace, transfer.spec.volume_name) == (volume.namespace, volume.name)
            if same and not transfer.status.phase.final:
                raise Refused(
                    f"volume {volume.namespace}/{volume.name} is in use by {transfer.ref}", hint="wait for it"
                )


async def _namespace_may_go(services: Services, namespace: Resource) -> None:
    volumes = (await services.store.list(Volume, namespace=namespace.name)).items
    if volumes:
        raise Refused(
            f"namespace {namespace.name} still has {len(volumes)} volume(s), such as {volumes[0].name}",
            hint="delete its volumes first; backups of them stay",
        )


async def _target_may_go(services: Services, target: Resource) -> None:
    backups = (await services.store.list(Backup)).items
    users = [backup.name for backup in backups if backup.spec.storage_location == target.name]
    if users:
        raise Refused(
            f"target {target.name} holds {len(users)} backup(s), such as {users[0]}",
            hint="delete the backups first; deleting a target never deletes data in its store",
        )


async def _system_backup_may_go(services: Services, system: Resource) -> None:
    assert isinstance(system, SystemBackup)  # noqa: S101  # see DEPARTURES
    for restore in (await services.store.list(SystemRestore)).items:
        source = restore.source
        if not restore.status.phase.final and source is not None and source.url == system.status.url:
            raise Refused(
                f"system restore {restore.name} is reading system backup {system.name}",
                hint="wait for it, or delete it first",
            )


DEPARTURES: dict[type[Resource], Callable[[Services, Resource], Awaitable[None]]] = {
    Backup: _backup_may_go,
    Volume: _volume_may_go,
    Namespace: _namespace_may_go,
    BackupTarget: _target_may_go,
    SystemBackup: _system_backup_may_go,
}
