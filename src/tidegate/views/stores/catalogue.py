"""What the stores hold, as tables and descriptions: volumes, their backups, and how old all of that is."""

from datetime import UTC, datetime

from tidegate.model.stores.catalogue_listing import ListedBackup, ListedVolume
from tidegate.model.stores.catalogue_status import CatalogueDamage, CatalogueStatus, TargetCatalogue
from tidegate.model.stores.target import BackupTarget, SyncStatus
from tidegate.views.phases import phase_tone
from tidegate.views.quantities import counted
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, Section, TableView, Tone, label_text, section, sections

_FINISHED = frozenset({"", "Done", "Failed"})
KUBERNETES = "KubernetesStatus"


def _size(text: str, reader: Reader) -> str:
    return reader.size(int(text) if text.isdecimal() else None)


def _moment(text: str) -> datetime | None:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _age(text: str, reader: Reader) -> str:
    return reader.age(_moment(text))


def _error(volume: ListedVolume) -> str:
    return "; ".join(volume.messages.values())


def _labels(labels: dict[str, str]) -> str:
    """Without the one that is a document of its own."""
    return label_text({key: value for key, value in labels.items() if key != KUBERNETES})


BACKUP_VOLUMES = TableView(
    (ListedVolume,),
    (
        Column("NAME", lambda volume, _: volume.name),
        Column("TARGET", lambda volume, _: volume.backup_target_name),
        Column("SIZE", lambda volume, reader: _size(volume.data_size, reader), right=True),
        Column("STORED", lambda volume, reader: _size(volume.data_stored, reader), right=True),
        Column("BACKUPS", lambda volume, _: str(volume.backup_count), right=True),
        Column("LAST BACKUP", lambda volume, reader: _age(volume.last_backup_at, reader)),
        Column("PROBLEM", lambda volume, _: Cell(_error(volume), Tone.BAD)),
        Column("SYNCED", lambda volume, reader: _age(volume.last_synced_at, reader), wide=True),
        Column("LAST NAME", lambda volume, _: volume.last_backup_name, wide=True),
        Column("LABELS", lambda volume, _: _labels(volume.labels), wide=True),
    ),
)

VOLUME_BACKUPS = TableView(
    (ListedBackup,),
    (
        Column("VOLUME", lambda backup, _: backup.volume_name),
        Column("BACKUP", lambda backup, _: backup.name),
        Column("STATE", lambda backup, _: Cell(backup.state, phase_tone(backup.state))),
        Column("SIZE", lambda backup, reader: _size(backup.data_size, reader), right=True),
        Column("AGE", lambda backup, reader: _age(backup.created, reader)),
        Column("TARGET", lambda backup, _: backup.backup_target_name),
        Column("NAMESPACE", lambda backup, _: backup.namespace),
        Column("CLAIM", lambda backup, _: backup.claim),
        Column("STORED", lambda backup, reader: _size(backup.size, reader), right=True, wide=True),
        Column("WORKLOAD", lambda backup, _: backup.workload, wide=True),
        Column("POD", lambda backup, _: backup.pod, wide=True),
        Column("LABELS", lambda backup, _: _labels(backup.labels), wide=True),
        Column("URL", lambda backup, _: backup.url, wide=True),
    ),
)


def _available(one: TargetCatalogue, reader: Reader) -> Cell:
    if one.available is None:
        return Cell("not checked", Tone.WAITING)
    if one.available:
        return Cell("yes", Tone.GOOD)
    return Cell(f"no, for {reader.age(one.since)}" if one.since else "no", Tone.BAD)


SYNCED_TARGETS = TableView(
    (TargetCatalogue,),
    (
        Column("TARGET", lambda one, _: one.name),
        Column("AVAILABLE", _available),
        Column("VOLUMES", lambda one, _: str(one.volumes), right=True),
        Column("BACKUPS", lambda one, _: str(one.backups), right=True),
        Column("SYNCED", lambda one, reader: reader.age(one.last_synced_at) or "not read yet"),
        Column("NOW", lambda one, reader: sync_line(one.sync, reader)),
        Column("PROBLEM", lambda one, _: Cell(problem_of(one), Tone.BAD)),
    ),
)


def is_syncing(sync: SyncStatus) -> bool:
    """Whether one runs now."""
    return sync.started_at is not None and sync.finished_at is None and sync.stage not in _FINISHED


def sync_line(sync: SyncStatus, reader: Reader) -> str:
    """How the one that runs goes, in one line; empty if none does."""
    if not is_syncing(sync):
        return ""
    words = [f"{sync.stage} {sync.done} of {sync.total}" if sync.total else sync.stage]
    if sync.backups:
        words.append(f"{sync.backups} backups read")
    if sync.errors:
        words.append(f"{sync.errors} errors")
    if sync.expected_end is not None:
        words.append(f"{reader.until(sync.expected_end)} left")
    return ", ".join(words)


def problem_of(one: TargetCatalogue) -> str:
    """What somebody should look at first; empty if all is well."""
    if one.available is False:
        return one.message
    if one.held_back:
        return one.held_back
    if one.sync.messages and (one.sync.errors or one.sync.failures):
        return one.sync.messages[0]
    broken = broken_text(one.damage)
    return f"{broken} cannot be read" if broken else ""


def broken_text(damage: CatalogueDamage) -> str:
    """`1 volume and 7 backups`; empty if nothing is broken."""
    counts = (damage.volumes, "volume"), (damage.backups, "backup")
    return " and ".join(counted(count, word) for count, word in counts if count)


def catalogue_headline(status: CatalogueStatus) -> str:
    """All of it in a sentence."""
    return f"{status.backups} backups of {status.volumes} volumes in {len(status.targets)} targets."


def confirm_command(target: str, mark: str) -> str:
    """What to type if the volumes that vanished are really gone."""
    return f"tidegate target sync {target} --confirm-vanished {mark}"


def sync_section(target: BackupTarget, reader: Reader) -> Section:
    """How the catalogue's view of a target stands."""
    status, sync = target.status, target.status.sync
    held = status.condition("VolumesVanished") if sync.vanished else None
    return section(
        "Sync",
        [
            ("Asked for", reader.moment_and_age(target.spec.sync_requested_at)),
            ("Now", sync_line(sync, reader)),
            ("Last began", reader.moment_and_age(status.last_synced_at) or "not read yet"),
            ("Last ended", reader.moment_and_age(sync.finished_at)),
            ("Failures", f"{sync.failures} in a row" if sync.failures else ""),
            ("Errors", str(sync.errors) if sync.errors else ""),
            *(("Message", message) for message in sync.messages),
            ("Held back", held.message if held else ""),
            ("If really gone", confirm_command(target.name, sync.vanished) if sync.vanished else ""),
        ],
    )


def describe_volume(volume: ListedVolume, reader: Reader) -> tuple[Section, ...]:
    """All there is to say about a volume in a store."""
    return sections(
        section(
            "Backup volume",
            [
                ("Name", volume.name),
                ("Id", volume.id),
                ("Target", volume.backup_target_name),
                ("Labels", _labels(volume.labels)),
                ("Created", reader.moment_and_age(_moment(volume.created))),
            ],
        ),
        section(
            "Content",
            [
                ("Size", _size(volume.data_size, reader)),
                ("Stored", _size(volume.data_stored, reader)),
                ("Backups", str(volume.backup_count)),
                ("Last backup", volume.last_backup_name),
                ("Last backup at", reader.moment_and_age(_moment(volume.last_backup_at))),
                ("Backing image", volume.backing_image_name),
                ("Storage class", volume.storage_class_name),
                ("Data engine", volume.data_engine),
            ],
        ),
        section(
            "State",
            [
                ("Synced", reader.moment_and_age(_moment(volume.last_synced_at))),
                *((kind.capitalize(), message) for kind, message in volume.messages.items()),
            ],
        ),
    )
