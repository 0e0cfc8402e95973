"""The live queue: who runs, who waits and why."""

import sys
from collections.abc import Iterator
from typing import Any

from tidegate.cli.http.client import Client
from tidegate.cli.http.events import position_behind
from tidegate.cli.http.nouns import BACKUP, UPLOADS
from tidegate.model.backups.backup import Backup
from tidegate.model.job_progress import progress_of
from tidegate.model.kinds import KIND_BY_PLURAL
from tidegate.model.transfers.transfer import BACKUP_LABEL, Transfer

Row = tuple[str, str, str, str]
_SHOWN = (BACKUP.plural, *UPLOADS)


def show_until_done(client: Client, *, total: int) -> list[Backup]:
    """Follow all backups until `total` of them are final; on a terminal as one table, else a line per change."""
    looks = _looks(client, total)
    return _as_table(looks) if sys.stdout.isatty() else _as_lines(looks)


Look = tuple[list[Backup], list[Row]]


def _looks(client: Client, total: int) -> Iterator[Look]:
    """A look at everything after every change; the last one shows that all are final."""
    while True:
        position = position_behind(client.versions(_SHOWN))
        with client.events(_SHOWN, since=position, quiet_seconds=5) as changes:
            yield _look(client)
            for _change in changes:
                look = _look(client)
                yield look
                if sum(backup.status.phase.final for backup in look[0]) >= total:
                    return


def _look(client: Client) -> Look:
    backups = [Backup.model_validate(wire) for wire in client.list(BACKUP.plural).items]
    return backups, _rows(client, backups)


def _rows(client: Client, backups: list[Backup]) -> list[Row]:
    uploads: list[Transfer] = []
    for plural in UPLOADS:
        kind: Any = KIND_BY_PLURAL[plural]
        uploads += [kind.model_validate(wire) for wire in client.list(plural).items]
    return [_row(backup, uploads) for backup in sorted(backups, key=lambda b: b.ticket or 0)]


def _row(backup: Backup, uploads: list[Transfer]) -> Row:
    mine = [u for u in uploads if u.metadata.labels.get(BACKUP_LABEL) == backup.metadata.uid]
    waiting = backup.status.condition("Waiting")
    percent = progress_of(backup, mine).percent
    done = sum(upload.status.phase.final for upload in mine)
    bar = f"{done} of {len(mine)} volumes" + (
        f", {percent} %" if percent is not None and not backup.status.phase.final else ""
    )
    place = f" #{backup.status.queue_position}" if backup.status.queue_position else ""
    why = f"{waiting.reason}: {waiting.message}" if waiting else bar if mine else ""
    return backup.name, ", ".join(backup.spec.included_namespaces) or "all", f"{backup.status.phase}{place}", why


def _as_table(looks: Iterator[Look]) -> list[Backup]:
    from rich.live import Live
    from rich.table import Table

    backups: list[Backup] = []
    with Live(auto_refresh=False) as live:
        for backups, rows in looks:  # noqa: B007  # the last one is the answer
            table = Table("backup", "namespaces", "phase", "why it waits, or how far it is", box=None, padding=(0, 2))
            for row in rows:
                table.add_row(*row)
            live.update(table, refresh=True)
    return backups


def _as_lines(looks: Iterator[Look]) -> list[Backup]:
    backups: list[Backup] = []
    told: dict[str, Row] = {}
    for backups, rows in looks:  # noqa: B007  # the last one is the answer
        for row in rows:
            if told.get(row[0]) != row:
                told[row[0]] = row
                name, namespaces, phase, why = row
                sys.stdout.write(f"  {name:<12}{namespaces:<18}{phase:<14}{why}\n")
                sys.stdout.flush()
    return backups
