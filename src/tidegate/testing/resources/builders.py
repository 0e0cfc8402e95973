"""Resources with only what matters to a test."""

from datetime import UTC, datetime

from tidegate.model.backups.backup import (
    EMPTY_CONDITION,
    NOTHING_MATCHED,
    Backup,
    BackupPhase,
    BackupSpec,
    BackupStatus,
)
from tidegate.model.backups.hooks import BackupHooks, ExecHook, Hook, OnError, ResourceHooks
from tidegate.model.label_selector import LabelSelector
from tidegate.model.resource import Condition, Metadata, OwnerReference
from tidegate.model.restores.restore import Restore, RestorePhase, RestoreSpec, RestoreStatus
from tidegate.model.schedules.schedule import Schedule, ScheduleSpec
from tidegate.model.stores.target import BackupTarget, BackupTargetSpec, StoreIdentity
from tidegate.model.system.system import SYSTEM_BACKUP_FINALIZER, SystemBackup, SystemBackupSpec, VolumeBackupPolicy
from tidegate.model.transfers.node import Node, NodeSpec, NodeStatus
from tidegate.model.transfers.transfer import DataUpload, Transfer, TransferPhase, TransferSpec, TransferStatus
from tidegate.model.volumes.volume import Volume, VolumeSpec
from tidegate.model.volumes.volume_kind import VolumeKind

THEN = datetime(2026, 1, 1, tzinfo=UTC)


def a_backup(
    name: str, *namespaces: str, phase: BackupPhase = BackupPhase.NEW, ticket: int | None = None, excluding: str = ""
) -> Backup:
    """A backup of these namespaces; none means all."""
    return Backup(
        metadata=Metadata(name=name, uid=f"uid-of-{name}", creation_timestamp=THEN),
        spec=BackupSpec(
            included_namespaces=namespaces,
            excluded_namespaces=(excluding,) if excluding else (),
            storage_location="store",
        ),
        status=BackupStatus(phase=phase, queue_ticket=ticket),
    )


def emptied(backup: Backup) -> Backup:
    """The backup as one that is over and for which no volume was there."""
    message = "nothing was backed up: no volume is in namespace ns"
    condition = Condition(type=EMPTY_CONDITION, status="True", reason=NOTHING_MATCHED, message=message)
    return backup.replace(status=backup.status.with_condition(condition))


def a_restore(name: str, *namespaces: str, phase: RestorePhase = RestorePhase.NEW, created: datetime = THEN) -> Restore:
    """A settled restore of the volume `data` in each of these namespaces."""
    return Restore(
        metadata=Metadata(name=name, uid=f"uid-of-{name}", creation_timestamp=created),
        spec=RestoreSpec(backup_name="b"),
        status=RestoreStatus(phase=phase, target_volumes=tuple(f"{namespace}/data" for namespace in namespaces)),
    )


def a_schedule(name: str, cron: str, *namespaces: str, **spec: object) -> Schedule:
    """A schedule of backups of these namespaces; none means all."""
    template = BackupSpec(included_namespaces=namespaces, storage_location="store")
    return Schedule(
        metadata=Metadata(name=name, uid=f"uid-of-{name}", creation_timestamp=THEN),
        spec=ScheduleSpec(schedule=cron, template=template).replace(**spec),
    )


def freezing(
    *, on_error: OnError = OnError.FAIL, namespaces: tuple[str, ...] = (), labels: dict[str, str] | None = None
) -> BackupHooks:
    """Hooks that run `freeze` before and `thaw` after."""
    pre, post = (Hook(exec=ExecHook(command=(name,), on_error=on_error)) for name in ("freeze", "thaw"))
    selector = LabelSelector(match_labels=labels) if labels else None
    return BackupHooks(
        resources=(
            ResourceHooks(
                name="database", included_namespaces=namespaces, label_selector=selector, pre=(pre,), post=(post,)
            ),
        )
    )


def a_target(name: str, *, default: bool = False, url: str = "file:///somewhere") -> BackupTarget:
    """A target that nobody has looked at yet."""
    return BackupTarget(metadata=Metadata(name=name), spec=BackupTargetSpec(url=url, default=default))


def seen(target: BackupTarget, identity: str = "store-1") -> BackupTarget:
    """The target after a look that found its store to be the right one."""
    return target.with_status(available=True, store=StoreIdentity(identity=identity, url=target.spec.url))


def a_system_backup(
    name: str, policy: VolumeBackupPolicy = VolumeBackupPolicy.IF_NOT_PRESENT, **status: object
) -> SystemBackup:
    """A system backup as the API lets it in."""
    return SystemBackup(
        metadata=Metadata(
            name=name, uid=f"uid-of-{name}", creation_timestamp=THEN, finalizers=(SYSTEM_BACKUP_FINALIZER,)
        ),
        spec=SystemBackupSpec(volume_backup_policy=policy, target="store"),
    ).with_status(**status)


def a_node(name: str = "node-a", *, ready: bool = True, slots: int | None = None, **labels: str) -> Node:
    """A node that takes transfers."""
    metadata = Metadata(name=name, labels=labels)
    return Node(metadata=metadata, spec=NodeSpec(slots=slots), status=NodeStatus(ready=ready))


def a_volume(namespace: str, name: str, path: str = "/data", **labels: str) -> Volume:
    """A directory volume."""
    metadata = Metadata(name=name, namespace=namespace, uid=f"uid-of-{namespace}-{name}", labels=labels)
    return Volume(metadata=metadata, spec=VolumeSpec(directory=path))


def a_transfer(
    name: str,
    phase: TransferPhase = TransferPhase.NEW,
    *,
    kind: type[Transfer] = DataUpload,
    node: str | None = None,
    owner: str = "",
    volume: tuple[str, str] = ("ns", "volume"),
    message: str = "",
) -> Transfer:
    """A transfer in some phase."""
    owners = (OwnerReference(kind="Backup", name=owner, uid=f"uid-of-{owner}"),) if owner else ()
    return kind(  # type: ignore[call-arg]  # each of the four kinds has its own word for `kind`
        metadata=Metadata(name=name, uid=f"uid-of-{name}", creation_timestamp=THEN, owner_references=owners),
        spec=TransferSpec(
            volume_namespace=volume[0],
            volume_name=volume[1],
            volume_kind=VolumeKind.IMAGE,
            path="/data",
            target="store",
            store_volume="ns.volume",
            store_backup="backup-0123456789abcdef",
        ),
        status=TransferStatus(phase=phase, node=node, message=message),
    )
