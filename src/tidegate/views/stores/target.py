"""Backup targets as a table and as a description."""

from tidegate.model.duration import format_duration
from tidegate.model.stores.catalogue_status import CatalogueDamage
from tidegate.model.stores.target import BackupTarget
from tidegate.views.phases import conditions_section, identity_lines
from tidegate.views.reader import Reader
from tidegate.views.stores.catalogue import broken_text, sync_section
from tidegate.views.table import Cell, Column, Section, TableView, Tone, section, sections


def _available(target: BackupTarget) -> Cell:
    if target.deleting:
        return Cell("Deleting", Tone.BUSY)
    if target.status.available is None:
        return Cell("not checked", Tone.WAITING)
    if target.status.available:
        return Cell("yes", Tone.GOOD)
    return Cell("another store" if target.status.store.adopt else "no", Tone.BAD)


def _poll_interval(target: BackupTarget) -> str:
    interval = target.spec.poll_interval
    if interval is None:
        return "as the settings say"
    return format_duration(interval) if interval else "only when asked"


TARGETS = TableView(
    (BackupTarget,),
    (
        Column("NAME", lambda target, _: target.name),
        Column("URL", lambda target, _: target.spec.url),
        Column("DEFAULT", lambda target, _: "yes" if target.spec.default else ""),
        Column("AVAILABLE", lambda target, _: _available(target)),
        Column("AGE", lambda target, reader: reader.age(target.metadata.creation_timestamp)),
        Column("POLL", lambda target, _: _poll_interval(target), wide=True),
        Column("SYNCED", lambda target, reader: reader.age(target.status.last_synced_at), wide=True),
        Column("MESSAGE", lambda target, _: target.status.message, wide=True),
    ),
)


def _store_section(target: BackupTarget) -> Section:
    store = target.status.store
    other = bool(store.adopt)
    return section(
        "Which store",
        [
            ("Identity", store.identity or ("none: it cannot be written to" if target.identified else "")),
            ("Found instead", (store.found or "nothing that has an identity") if other else ""),
            ("If that is right", target.adopt_command if other else ""),
        ],
    )


def _damage_section(target: BackupTarget, damage: CatalogueDamage) -> Section:
    """A sync that saw everything is complete also where what it saw is broken: so the damage is shown on its own."""
    more = damage.volumes + damage.backups - len(damage.named)
    return section(
        "Cannot be read",
        [
            ("Broken", broken_text(damage)),
            *(("Namely", sentence) for sentence in damage.named),
            ("Not named", f"{more} more" if more > 0 else ""),
            ("List", f"tidegate catalog search --target {target.name} --state Error" if damage.backups else ""),
        ],
    )


def describe_target(target: BackupTarget, reader: Reader, damage: CatalogueDamage | None = None) -> tuple[Section, ...]:
    """All there is to say about a target; its credentials only by name."""
    spec, status = target.spec, target.status
    looked = status.condition("Available")
    return sections(
        section("Target", identity_lines(target, reader)),
        section(
            "Store",
            [
                ("URL", spec.url),
                ("Default", "yes" if spec.default else "no"),
                ("Credentials", spec.credential_secret or ""),
                ("Polled every", _poll_interval(target)),
            ],
        ),
        section(
            "State",
            [
                ("Available", _available(target).text),
                ("Since", reader.moment_and_age(looked.last_transition_time) if looked else ""),
                ("Message", status.message),
            ],
        ),
        _store_section(target),
        sync_section(target, reader),
        _damage_section(target, damage or CatalogueDamage()),
        conditions_section(status, reader),
    )
