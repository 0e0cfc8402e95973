"""Volumes as a table and as a description."""

from tidegate.model.volume import Volume
from tidegate.views.phases import conditions_section, identity_lines
from tidegate.views.reader import Reader
from tidegate.views.table import Cell, Column, Section, TableView, Tone, label_text, section, sections

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


VOLUMES = TableView(
    (Volume,),
    (
        Column("NAMESPACE", lambda volume, _: volume.namespace),
        Column("NAME", lambda volume, _: volume.name),
        Column("KIND", lambda volume, _: volume.spec.source_kind),
        Column("SIZE", _size, right=True),
        Column("LAST BACKUP", lambda volume, _: _last_backup(volume)),
        Column("BACKED UP", lambda volume, reader: reader.age(volume.status.last_backup_at)),
        Column("AGE", lambda volume, reader: reader.age(volume.metadata.creation_timestamp)),
        Column("PATH", lambda volume, _: volume.spec.path, wide=True),
        Column("NODE", lambda volume, _: volume.spec.node or "", wide=True),
        Column("LABELS", lambda volume, _: label_text(volume.metadata.labels), wide=True),
        Column("URL", lambda volume, _: volume.status.last_backup_url or "", wide=True),
    ),
)


def describe_volume(volume: Volume, reader: Reader) -> tuple[Section, ...]:
    """All there is to say about a volume."""
    spec, status = volume.spec, volume.status
    return sections(
        section("Volume", identity_lines(volume, reader)),
        section(
            "Source",
            [
                ("Kind", spec.source_kind),
                ("Path", spec.path),
                ("Node", spec.node or ""),
                ("Excludes", " ".join(spec.excludes)),
            ],
        ),
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
