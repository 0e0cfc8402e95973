"""`tidegate store verify`: is everything that the backups need still there, and whole?"""

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import failure_of, wrong_usage
from tidegate.cli.http.wire import Wire
from tidegate.cli.options import epilog
from tidegate.cli.output.terminal import printable
from tidegate.cli.stores.store_access import Place, place_of
from tidegate.cli.stores.store_data import show_document
from tidegate.cli.stores.store_running import run_work

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from tidegate.datapath.inspection.verify import Verification, VolumeVerdict
    from tidegate.model.transfers.mover_job import ProgressReport

_ALL_PERCENT = 100


def verify(
    ctx: typer.Context,
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="A store, a volume in it, or one backup.")],
    read_data: Annotated[
        str, typer.Option(metavar="PERCENT", help="Also read so many percent of the blocks and compare them.")
    ] = "0",
    output: options.Output = None,
) -> None:
    """Check a store without restoring and without writing. Exits with 1 if something is damaged.

    Exits with 3 if part of it could not be looked at.
    """
    cli = context_of(ctx)
    percent = _percent(read_data)
    place = place_of(cli, url)
    verdicts: list[VolumeVerdict] = []
    for name in _volumes(place):
        verdict = _look(cli, Place(cli, place.target, name, place.backup), percent, alone=bool(place.volume))
        if verdict is None:
            continue
        verdicts.append(verdict)
        if verdict.unread:
            cli.end_with(ExitCode.PARTLY_MISSING)
        if output is None or output.is_table:
            _tell(cli, verdict)
    whole = all(verdict.whole for verdict in verdicts)
    if not whole:
        cli.exit_code = ExitCode.FAILED  # whatever else there is to say
    show_document(cli, {"whole": whole, "volumes": [_document(verdict) for verdict in verdicts]}, output)
    backups = sum(len(verdict.backups) for verdict in verdicts)
    damaged = sum(1 for verdict in verdicts for one in verdict.backups if one.problems)
    read = sum(verdict.blocks_read for verdict in verdicts)
    cli.terminal.note(
        f"{len(verdicts)} volumes, {backups} backups, {damaged} of them damaged; "
        f"{read} of {sum(verdict.blocks for verdict in verdicts)} blocks were read."
    )


def add_verify(app: typer.Typer) -> None:
    """Attach it."""
    app.command(
        "verify",
        epilog=epilog(
            "tidegate store verify /mnt/backups",
            "tidegate store verify '/mnt/backups?volume=shop' --read-data 100",
            codes=(ExitCode.PARTLY_MISSING, ExitCode.NOT_FOUND, ExitCode.INTERRUPTED),
        ),
    )(verify)


def _volumes(place: Place) -> list[str]:
    from tidegate.datapath.inspection.listing import working_names

    return [place.volume] if place.volume else working_names(place.objects)


def _look(cli: CliContext, place: Place, percent: float, *, alone: bool) -> "VolumeVerdict | None":
    """The verdict on one volume. One that cannot be looked at is told, and the others are looked at all the same."""
    from tidegate.errors import NotFound, RetryableError, Unauthenticated

    def work(show: "Callable[[ProgressReport], None]", cancelled: "threading.Event") -> "VolumeVerdict":
        return _verification(cli, percent, show, cancelled).volume(place.stored(), only=place.backup, alone=alone)

    try:
        return run_work(cli, f"Checking {place.volume}", work)
    except NotFound:
        if alone:
            raise
        return None  # only a directory, with a lock in it or nothing at all; or deleted since the listing
    except (RetryableError, Unauthenticated) as error:
        if alone:
            raise
        cli.terminal.note(failure_of(error).as_text())
        cli.end_with(ExitCode.PARTLY_MISSING)
        return None


def _verification(
    cli: CliContext, percent: float, show: "Callable[[ProgressReport], None]", cancelled: "threading.Event"
) -> "Verification":
    from tidegate.datapath.inspection.verify import Verification
    from tidegate.datapath.progress import Progress
    from tidegate.errors import WorkCancelled

    progress = Progress(show, cli.clock)

    def checkpoint() -> None:
        if cancelled.is_set():
            raise WorkCancelled("the work was cancelled")

    return Verification(
        percent=percent,
        now=cli.clock.now(),
        checkpoint=checkpoint,
        on_stage=lambda stage, total: progress.enter(stage, total_bytes=total),
        on_bytes=progress.add,
    )


def _tell(cli: CliContext, verdict: "VolumeVerdict") -> None:
    from tidegate.datapath.inspection.verify import problems_of

    for backup in verdict.backups:
        state = "in progress" if backup.in_progress else "whole" if backup.whole else "DAMAGED"
        cli.terminal.out(f"{state:<12}{verdict.volume}/{backup.backup}")
    for problem in problems_of(verdict):
        cli.terminal.out(printable(f"  {problem}"))
    for note in verdict.notes:
        cli.terminal.note(printable(f"Note: volume {verdict.volume}: {note}"))


def _document(verdict: "VolumeVerdict") -> Wire:
    document = {**asdict(verdict), "whole": verdict.whole}
    document["backups"] = [{**asdict(backup), "whole": backup.whole} for backup in verdict.backups]
    return document


def _percent(text: str) -> float:
    try:
        percent = float(text.strip().removesuffix("%"))
    except ValueError:
        percent = -1
    if not 0 <= percent <= _ALL_PERCENT:
        raise wrong_usage(f"--read-data {text}: write a number from 0 to 100.")
    return percent
