"""Which volumes a request is about."""

from collections.abc import Iterable, Sequence

from tidegate.decide.queue.overlap import is_glob, selects
from tidegate.errors import InvalidInput, NotFound, Refused
from tidegate.model.backups.backup import Backup, BackupPhase, BackupSpec
from tidegate.model.labels import Selector
from tidegate.model.restores.restore import RestoreSpec
from tidegate.model.schedules.schedule import SCHEDULE_LABEL
from tidegate.model.transfers.transfer import DATA_REMOVED, Transfer, TransferPhase
from tidegate.model.volumes.volume import Volume


def volumes_to_back_up(spec: BackupSpec, volumes: Iterable[Volume]) -> list[Volume]:
    """The volumes in the backup's namespaces that its selectors pick, in a stable order."""
    included, there = frozenset(spec.included_volumes), [volume for volume in volumes if not volume.deleting]
    names = {volume.namespace for volume in there}
    scope = {
        name for name in names if selects(name, included=spec.included_namespaces, excluded=spec.excluded_namespaces)
    }
    wanted = [
        volume
        for volume in there
        if volume.namespace in scope
        and _labelled(spec, volume)
        and (not spec.included_volumes or f"{volume.namespace}/{volume.name}" in included)
    ]
    return sorted(wanted, key=lambda volume: (volume.namespace, volume.name))


def _labelled(spec: BackupSpec, volume: Volume) -> bool:
    if not spec.label_choices:
        return True
    return any(Selector.matching(one.match_labels).holds_for(volume.metadata.labels) for one in spec.label_choices)


def uploads_to_restore(spec: RestoreSpec, uploads: Iterable[Transfer]) -> list[Transfer]:
    """The finished uploads of a backup that a restore wants back, in a stable order."""
    return [upload for upload in _asked_for(spec, uploads) if not upload.data_removed]


def uploads_lost(spec: RestoreSpec, uploads: Iterable[Transfer]) -> list[Transfer]:
    """Those that it wants back too, but that somebody has deleted from the store since the backup was made."""
    return [upload for upload in _asked_for(spec, uploads) if upload.data_removed]


def _asked_for(spec: RestoreSpec, uploads: Iterable[Transfer]) -> list[Transfer]:
    wanted = [
        upload
        for upload in uploads
        if upload.status.phase is TransferPhase.COMPLETED
        and selects(upload.spec.volume_namespace, included=spec.included_namespaces, excluded=spec.excluded_namespaces)
        and (not spec.included_volumes or _named(upload, spec.included_volumes))
    ]
    return sorted(wanted, key=lambda upload: (upload.spec.volume_namespace, upload.spec.volume_name))


def _named(upload: Transfer, names: tuple[str, ...]) -> bool:
    full = f"{upload.spec.volume_namespace}/{upload.spec.volume_name}"
    return full in names or upload.spec.volume_name in names


_MOST_NAMED = 20

_RESTORABLE = frozenset({BackupPhase.COMPLETED, BackupPhase.PARTIALLY_FAILED})


def check_restorable(backup: Backup, *, to_be: str = "restored") -> None:
    """Raises Refused with the sentence that says why nothing can be restored from it."""
    phase = backup.status.phase
    if phase not in _RESTORABLE:
        raise Refused(
            f"backup {backup.name} is {phase}; only Completed and PartiallyFailed ones can be {to_be}",
            hint="" if phase.final else f"wait for it: tidegate backup wait {backup.name}",
        )
    if backup.holds_nothing:
        raise Refused(f"backup {backup.name} holds nothing: no volume matched what it asked for")


def newest_good_backup(schedule: str, backups: Iterable[Backup]) -> Backup:
    """The newest backup of a schedule from which everything can be restored; raises NotFound if there is none.

    One that is only partly there is passed over: who wants it names it.
    """
    good = [
        backup
        for backup in backups
        if backup.metadata.labels.get(SCHEDULE_LABEL) == schedule
        and backup.status.phase is BackupPhase.COMPLETED
        and not backup.holds_nothing
        and backup.status.condition(DATA_REMOVED) is None
        and not backup.deleting
    ]
    if not good:
        raise NotFound(
            f"schedule {schedule} has no backup that is Completed and holds something",
            hint=f"look for one that is partly there: tidegate backup get -l {SCHEDULE_LABEL}={schedule}",
        )
    return max(good, key=lambda backup: (backup.status.start_timestamp is not None, _began(backup), backup.name))


def _began(backup: Backup) -> float:
    return backup.status.start_timestamp.timestamp() if backup.status.start_timestamp else 0.0


def check_choice(spec: RestoreSpec, uploads: Sequence[Transfer]) -> None:
    """Raises InvalidInput for a name that the backup does not hold: a typing error must not restore less in silence."""
    held = [upload for upload in uploads if upload.status.phase is TransferPhase.COMPLETED and not upload.data_removed]
    volumes = sorted(f"{upload.spec.volume_namespace}/{upload.spec.volume_name}" for upload in held)
    namespaces = {upload.spec.volume_namespace for upload in held}
    removed = _names(upload for upload in uploads if upload.data_removed)
    more = " and more" if len(volumes) > _MOST_NAMED else ""
    hint = f"it holds {', '.join(volumes[:_MOST_NAMED])}{more}" if volumes else ""
    known = {*volumes, *(upload.spec.volume_name for upload in held)}
    for field, names, there in (
        ("includedNamespaces", [name for name in spec.included_namespaces if not is_glob(name)], namespaces),
        ("namespaceMapping", list(spec.namespace_mapping), namespaces),
        ("includedVolumes", list(spec.included_volumes), known),
        ("volumeOrder", list(spec.volume_order), set(volumes)),
    ):
        for name in names:
            if name not in there:
                what = "namespace" if there is namespaces else "volume"
                since = "; it was deleted from the store since" if name in removed else ""
                message = f"the backup holds nothing of {what} {name}{since}"
                raise InvalidInput(message, field=f"spec.{field}", hint=hint)
    _check_unambiguous(spec.included_volumes, volumes)
    if not uploads_to_restore(spec, held):
        raise InvalidInput("the backup holds nothing of what is asked for", field="spec", hint=hint)


def _check_unambiguous(names: Iterable[str], volumes: Sequence[str]) -> None:
    """A name without a namespace is good enough where one volume has it; of several, all would be written over."""
    for name in names:
        same = [volume for volume in volumes if volume.partition("/")[2] == name]
        if len(same) > 1:
            raise InvalidInput(
                f"{name} may be any of {', '.join(same[:_MOST_NAMED])}",
                field="spec.includedVolumes",
                hint="write NAMESPACE/NAME",
            )


def _names(uploads: Iterable[Transfer]) -> set[str]:
    """Whatever a person may call them, or the namespaces that they lie in."""
    specs = [upload.spec for upload in uploads]
    return {
        name for s in specs for name in (s.volume_namespace, s.volume_name, f"{s.volume_namespace}/{s.volume_name}")
    }
