"""Which volumes a system restore brings back, from what, and how that stands."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from tidegate.model.backups.existing_data import ExistingData
from tidegate.model.resource import Metadata
from tidegate.model.restores.restore import RESTORE_FINALIZER, FoundSource, Restore, RestorePhase, RestoreSpec
from tidegate.model.restores.restore_plan import Place, PlaceState
from tidegate.model.stores.store_url import same_store
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SYSTEM_RESTORE_LABEL, StoredVolumeBackup
from tidegate.model.system.system_restore import RestoredVolume, RestoredVolumeState, SystemRestore, VolumeChoice
from tidegate.model.system_archive import ArchivedVolumeBackup
from tidegate.model.transfers.transfer import TransferSpec
from tidegate.model.volumes.volume import Volume
from tidegate.model.volumes.volume_ref import Device

_MOST_NAMED = 5


def store_of(
    row: ArchivedVolumeBackup, targets: Sequence[BackupTarget], *, archive_url: str, through: BackupTarget
) -> BackupTarget | None:
    """The target here that holds a volume backup; None if no store here is that one.

    The store of the archive may be reached under another URL than by whoever wrote it, `archive_url`: what lay in the
    same store as the archive does so still.
    """
    if same_store(row.target_url, archive_url):
        return through
    return next((target for target in targets if same_store(target.spec.url, row.target_url)), None)


@dataclass(frozen=True)
class FoundBackup:
    """The very volume backup that the archive names, as it is reached from here."""

    stored: StoredVolumeBackup
    url: str


def plan_volume(volume: Volume, found: FoundBackup | str, choice: VolumeChoice, place: Place) -> RestoredVolume:
    """One volume of the archive. `found` is its volume backup, or the sentence why there is none."""
    name = f"{volume.namespace}/{volume.name}"

    def skipped(reason: str) -> RestoredVolume:
        return RestoredVolume(volume=name, state=RestoredVolumeState.SKIPPED, reason=reason)

    if choice is VolumeChoice.NONE:
        return skipped("no data is asked for")
    if isinstance(found, str):
        # Whoever asks for everything must hear in the end that something is missing.
        return RestoredVolume(volume=name, state=RestoredVolumeState.FAILED, reason=found)
    where = volume.spec.ref.address
    if place.in_the_way:
        reason = f"{where} cannot be made: {place.in_the_way}"
        return RestoredVolume(volume=name, state=RestoredVolumeState.FAILED, reason=reason)
    if choice is VolumeChoice.MISSING and place.state not in {PlaceState.FREE, PlaceState.EMPTY}:
        there = f": {place.detail}" if place.detail else ""
        return skipped(f"{where} holds something{there}; --volumes all overwrites it")
    return RestoredVolume(volume=name, backup_url=found.url, stored=found.stored, state=RestoredVolumeState.WAITING)


def restore_name(system: SystemRestore, volume: str) -> str:
    """Always the same, so that making it twice is harmless."""
    return f"{system.name[:200]}-{sha256(f'{system.metadata.uid}/{volume}'.encode()).hexdigest()[:10]}"


def with_restore_names(system: SystemRestore) -> tuple[RestoredVolume, ...]:
    """The rows with the names of the Restores to be made: written down before any is."""
    return tuple(
        row.replace(restore=restore_name(system, row.volume)) if row.state is RestoredVolumeState.WAITING else row
        for row in system.status.volumes
    )


def restore_for(system: SystemRestore, row: RestoredVolume, volume: Volume) -> Restore:
    """The Restore of one volume, through the gates as every other."""
    assert row.restore is not None  # noqa: S101  # see `with_restore_names`
    assert row.stored is not None  # noqa: S101  # only such a row waits
    everything = system.spec.volumes is VolumeChoice.ALL
    return Restore(
        metadata=Metadata(
            name=row.restore,
            labels={SYSTEM_RESTORE_LABEL: system.metadata.uid},
            finalizers=(RESTORE_FINALIZER,),
            owner_references=(system.as_owner(),),
        ),
        spec=RestoreSpec(
            backup_url=row.backup_url,
            existing_data=ExistingData.OVERWRITE if everything else ExistingData.NONE,
            # A device can only be written onto; whoever asks for all volumes has named it.
            force=everything and isinstance(volume.spec.ref, Device),
            found=FoundSource(volume_backup=_source(volume, row.stored)),
        ),
    )


def _source(volume: Volume, stored: StoredVolumeBackup) -> TransferSpec:
    return TransferSpec.of(
        volume, target=stored.target, store_volume=stored.store_volume, store_backup=stored.store_backup
    )


def volumes_as_they_are(
    rows: Iterable[RestoredVolume], restores: Mapping[str, Restore], *, requested: bool = True
) -> tuple[RestoredVolume, ...]:
    """The rows with how each Restore stands. One that is gone has failed, once all have been made."""
    return tuple(
        _as_it_is(row, restores.get(row.restore), requested=requested)
        if row.restore is not None and row.state is not RestoredVolumeState.FAILED
        else row
        for row in rows
    )


def _as_it_is(row: RestoredVolume, restore: Restore | None, *, requested: bool) -> RestoredVolume:
    if restore is None or restore.deleting:
        if not requested:
            return row
        why = f"restore {row.restore} was deleted before it was done"
        return row.replace(state=RestoredVolumeState.FAILED, reason=why)
    phase = restore.status.phase
    if phase is RestorePhase.COMPLETED:
        return row.replace(state=RestoredVolumeState.COMPLETED, reason="")
    if phase.final:
        why = restore.status.failure_reason or "; ".join(restore.status.validation_errors) or f"its restore is {phase}"
        return row.replace(state=RestoredVolumeState.FAILED, reason=why)
    waiting = restore.status.condition("Waiting")
    if waiting is not None:
        return row.replace(state=RestoredVolumeState.WAITING, reason=f"{waiting.reason}: {waiting.message}")
    state = RestoredVolumeState.WAITING if phase is RestorePhase.NEW else RestoredVolumeState.IN_PROGRESS
    return row.replace(state=state, reason="")


def all_over(rows: Iterable[RestoredVolume]) -> bool:
    """Whether nothing is waited for any more."""
    return not any(row.state in {RestoredVolumeState.WAITING, RestoredVolumeState.IN_PROGRESS} for row in rows)


def failure_of(rows: Iterable[RestoredVolume]) -> str | None:
    """The sentence that names the volumes that are not back, if any."""
    failed = [row for row in rows if row.state is RestoredVolumeState.FAILED]
    if not failed:
        return None
    named = "; ".join(f"volume {row.volume}: {row.reason}" for row in failed[:_MOST_NAMED])
    return named + (f"; and {len(failed) - _MOST_NAMED} more volumes" if len(failed) > _MOST_NAMED else "")
