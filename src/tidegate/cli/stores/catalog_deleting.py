"""`catalog delete`: all that match, after a look at how many that are."""

from tidegate.cli.context import CliContext
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import CommandFailure
from tidegate.cli.http.nouns import BACKUP_VOLUME, DELETION
from tidegate.cli.http.wire import Wire
from tidegate.cli.output.asking import ask_whether_to
from tidegate.cli.output.listings import Query
from tidegate.views.quantities import counted

_PATH = "catalogue/deletions"


def delete_matching(cli: CliContext, query: Query, *, dry_run: bool, yes: bool) -> None:
    """What somebody saw is what goes: the server refuses if more match by then."""
    with cli.connect() as client:
        seen = client.send(_PATH, {**query, "dryRun": "true"}, {"expected": 0})
        backups, volumes = int(seen["backups"]), int(seen["volumes"])
        if not backups:
            cli.terminal.note("Nothing matches; nothing was deleted.")
            return
        what = f"{counted(backups, 'backup')} of {counted(volumes, 'volume')}"
        if dry_run:
            cli.terminal.out(f"{what} would be deleted")
            return
        if not yes:
            ask_whether_to(cli, "delete", BACKUP_VOLUME, [what], done="deleted")
        answer = client.send(_PATH, query, {"expected": backups})
    _tell(cli, answer)


def _tell(cli: CliContext, answer: Wire) -> None:
    backups = int(answer["backups"])
    whose = "it from its store" if backups == 1 else "them from their stores"
    cli.terminal.note(f"Deleting {counted(backups, 'backup')}; the server removes {whose}.")
    for name in answer["deletions"]:
        cli.terminal.out(f"{DELETION.word}/{name}")
    kept = answer["kept"]
    if kept:
        first = kept[0]
        raise CommandFailure(
            f"{len(kept)} volumes keep their backups, the first is {first['volume']}: {first['message']}.",
            code="Refused",
            exit_code=ExitCode.PARTLY_MISSING,
            hint="Wait for what reads them, then ask again.",
        )
