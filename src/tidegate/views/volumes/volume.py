"""Volumes as a table and as a description."""

from tidegate.model.volumes.protection import ProtectionState
from tidegate.model.volumes.volume import Volume
from tidegate.views.phases import conditions_section, identity_lines
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, Section, TableView, Tone, joined, label_text, section, sections

_NEVER = "never"


def _last_backup(volume: Volume) -> Cell:
    # A volume that nobody ever protected is the one a person wants to find in this table.
    text = _name(volume)
    return Cell(text, Tone.WAITING) if text == _NEVER else Cell(text)


def _name(volume: Volume) -> str:
    status = volume.status
    return status.last_backup or ("in its store" if status.last_backup_url else _NEVER)


def _size(volume: Volume, reader: Reader) -> str:
    return "" if volume.status.size is None else reader.size(volume.status.size)


# Good for the one state that is: a backup that nothing follows is no protection.
_TONES = {ProtectionState.PROTECTED: Tone.GOOD, ProtectionState.NO_SCHEDULE: Tone.WAITING}


def _protection(volume: Volume) -> Cell:
    found = volume.status.protection
    return Cell("") if found is None else Cell(found.state, _TONES.get(found.state, Tone.BAD))


VOLUMES = TableView(
    (Volume,),
    (
        Column("NAMESPACE", lambda volume, _: volume.namespace),
        Column("NAME", lambda volume, _: volume.name),
        Column("PROTECTION", lambda volume, _: _protection(volume)),
        Column("KIND", lambda volume, _: volume.spec.ref.kind),
        Column("SIZE", _size, right=True),
        Column("LAST BACKUP", lambda volume, _: _last_backup(volume)),
        Column("BACKED UP", lambda volume, reader: reader.age(volume.status.last_backup_at)),
        Column("AGE", lambda volume, reader: reader.age(volume.metadata.creation_timestamp)),
        Column("PATH", lambda volume, _: volume.spec.ref.address, wide=True),
        Column("NODE", lambda volume, _: volume.spec.node or "", wide=True),
        Column("LABELS", lambda volume, _: label_text(volume.metadata.labels), wide=True),
        Column("URL", lambda volume, _: volume.status.last_backup_url or "", wide=True),
    ),
)


def _protection_lines(volume: Volume) -> list[tuple[str, str]]:
    found = volume.status.protection
    if found is None:
        return []
    return [("State", found.state), ("Why", found.message), ("Schedules", joined(found.schedules))]


def describe_volume(volume: Volume, reader: Reader) -> tuple[Section, ...]:
    """All there is to say about a volume."""
    spec, status = volume.spec, volume.status
    return sections(
        section("Volume", identity_lines(volume, reader)),
        section(
            "Source",
            [
                ("Kind", spec.ref.kind),
                ("Path", spec.ref.address),
                ("Node", spec.node or ""),
                ("Excludes", " ".join(spec.excludes)),
            ],
        ),
        section("Protection", _protection_lines(volume)),
        section(
            "Last backup",
            [
                ("Backup", _name(volume)),
                ("At", reader.moment_and_age(status.last_backup_at)),
                ("Size", _size(volume, reader)),
                ("URL", status.last_backup_url or ""),
            ],
        ),
        conditions_section(status, reader),
    )
