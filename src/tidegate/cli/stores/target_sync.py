"""`tidegate target sync`: bring the catalogue up to date with a store now, and with --wait stay until it is."""

from datetime import datetime
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import CommandFailure, wrong_usage
from tidegate.cli.http.events import ResourceEvent
from tidegate.cli.http.following import Deadline, Moment, Versions, follow, pause_a_moment
from tidegate.cli.http.nouns import TARGET
from tidegate.cli.http.wire import Wire, name_of, read_model, read_resource
from tidegate.cli.options import read_timeout
from tidegate.cli.output.terminal import printable
from tidegate.errors import StoreUnavailable

if TYPE_CHECKING:
    from tidegate.cli.http.client import Client
    from tidegate.model.stores.target import BackupTarget

SYNC_CODES = (ExitCode.PARTLY_MISSING, ExitCode.WAITED_TOO_LONG, ExitCode.INTERRUPTED)


def sync(
    ctx: typer.Context,
    *,
    name: Annotated[str, options.name_of(TARGET)],
    volume: Annotated[str, typer.Option(metavar="VOLUME", help="Only this volume, by its name in the store.")] = "",
    confirm_vanished: Annotated[
        str, typer.Option(metavar="MARK", help="Say that the volumes which vanished are really gone.")
    ] = "",
    wait: options.Wait = False,
    timeout: options.Timeout = "",
) -> None:
    """Bring the catalogue up to date with a store now. Nothing in the store is changed."""
    cli = context_of(ctx)
    if volume and confirm_vanished:
        raise wrong_usage("--confirm-vanished is about a whole target.", hint="Leave --volume away.")
    deadline = Deadline.after(
        cli.clock,
        read_timeout(timeout),
        sentence=f"The sync of {name} did not end in time. It goes on.",
        hint=f"Look with: tidegate target describe {name}",
    )
    body: Wire = {"syncBackupTarget": True}
    if volume:
        body["volume"] = volume
    if confirm_vanished:
        body["confirmVanished"] = confirm_vanished
    with cli.connect() as client:
        asked = client.act(TARGET, name, "backupTargetSync", body)
    when = dict(asked.get("forecast" if volume else "syncForecast") or {}).get("message", "")
    what = f"volume {volume} in target {name}" if volume else f"target {name}"
    cli.terminal.note(printable(f"Asked for a sync of {what}{f': {when}' if when else ''}."))
    if wait:
        try:
            _wait(cli, name, volume, asked, deadline)
        except KeyboardInterrupt:
            raise CommandFailure(
                f"Stopped waiting. The sync of {name} goes on.", code="Interrupted", exit_code=ExitCode.INTERRUPTED
            ) from None
    cli.terminal.out(f"{TARGET.word}/{name}")


def _wait(cli: CliContext, name: str, volume: str, asked: Wire, deadline: Deadline) -> None:
    if volume:
        _wait_for_volume(cli, name, volume, deadline)
    else:
        _wait_for_target(cli, name, datetime.fromisoformat(str(asked["spec"]["syncRequestedAt"])), deadline)


def _wait_for_target(cli: CliContext, name: str, asked_at: datetime, deadline: Deadline) -> None:
    """Until a sync has ended that began after it was asked for."""
    from tidegate.model.stores.target import BackupTarget
    from tidegate.views.stores.catalogue import sync_line

    seen: list[Wire] = []

    def look(client: "Client") -> Versions:
        versions = client.versions(TARGET.plurals)
        seen[:] = [client.get(TARGET, name)]
        return versions

    told = ""
    for item in follow(cli, TARGET.plurals, look, deadline=deadline):
        if item is Moment.LOST:
            cli.terminal.note("The server is away; looking for it again.")
        if isinstance(item, ResourceEvent):
            if name_of(item.resource) != name:
                continue
            seen[:] = [item.resource]
        target = read_resource((BackupTarget,), seen[0])
        if _has_ended(target, asked_at):
            _tell_end(cli, target)
            return
        line = sync_line(target.status.sync, cli.reader())
        if line and line != told:
            cli.terminal.note(f"{name}: {line}")
            told = line


def _has_ended(target: "BackupTarget", asked_at: datetime) -> bool:
    """Raises if it cannot begin, or has failed: it comes again by itself, but nobody knows when."""
    status, hint = target.status, f"It is tried again by itself. Look with: tidegate target describe {target.name}"
    if status.last_synced_at is not None and status.last_synced_at >= asked_at:
        return True
    if status.available is False:
        raise StoreUnavailable(f"Target {target.name} does not answer: {status.message}", hint=hint)
    if status.sync.failed_at is not None and status.sync.failed_at >= asked_at:
        said = "; ".join(status.sync.messages) or "no reason was given"
        raise StoreUnavailable(f"The sync of {target.name} failed: {said}", hint=hint)
    return False


def _tell_end(cli: CliContext, target: "BackupTarget") -> None:
    from tidegate.views.stores.catalogue import confirm_command

    sync = target.status.sync
    cli.terminal.note(f"Target {target.name} is synced: {sync.done} volumes looked at, {sync.errors} errors.")
    for message in sync.messages:
        cli.terminal.note(printable(f"  {message}"))
    held = target.status.condition("VolumesVanished")
    if sync.vanished and held is not None:
        cli.terminal.note(printable(held.message))
        cli.terminal.note(f"If that is so, confirm it: {confirm_command(target.name, sync.vanished)}")
    if sync.errors or sync.vanished:
        cli.end_with(ExitCode.PARTLY_MISSING)


def _wait_for_volume(cli: CliContext, name: str, volume: str, deadline: Deadline) -> None:
    """No stored resource tells of it, so it is asked for again and again."""
    from tidegate.model.stores.catalogue_status import VolumeSync
    from tidegate.model.stores.target import BackupTarget

    while True:
        with cli.connect() as client:
            found = read_model(VolumeSync, client.look(f"catalogue/syncs/{name}/{volume}"), "sync")
            if not found.pending:
                cli.terminal.note(f"Volume {volume} in target {name} is synced.")
                return
            target = read_resource((BackupTarget,), client.get(TARGET, name))
        if found.failures and not found.running:
            raise StoreUnavailable(f"The sync of volume {volume} failed: {found.message}", hint="It is tried again.")
        if target.status.available is False:
            raise StoreUnavailable(f"Target {name} does not answer: {target.status.message}", hint="It is tried again.")
        deadline.check()
        pause_a_moment(cli.clock)
