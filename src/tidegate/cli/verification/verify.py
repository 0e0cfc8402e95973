"""`tidegate verify`: prove that backups restore."""

import shlex
from datetime import UTC
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.nouns import BACKUP, SCHEDULE, VERIFY
from tidegate.cli.http.wire import Wire, read_all, read_resource
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog
from tidegate.cli.output.resources import show_sections
from tidegate.cli.verbs.attach import WAIT_CODES, add_cancel, add_delete, add_get, add_logs, add_wait
from tidegate.cli.verbs.creating import new_resource
from tidegate.cli.verbs.job_wishes import JobWishes
from tidegate.cli.verbs.waiting import transfers_of

app = typer.Typer(no_args_is_help=True, help="Verifications: proof that backups restore, by restoring them.")

Name = Annotated[str, options.name_of(VERIFY, "verification")]
CheckOption = Annotated[
    str,
    typer.Option("--check", metavar="COMMAND", help="A program in hooks/ of the server's data, and its arguments."),
]
CheckTimeout = Annotated[
    str, typer.Option("--check-timeout", metavar="DURATION", help="How long the check may run, such as 10m.")
]


def check_wish(command: str, timeout: str) -> Wire | None:
    """The check as the API takes it."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise wrong_usage(
            f"--check: {error}.", hint="Write it as in a shell, for example --check 'open-db shop'."
        ) from None
    if not words:
        if timeout:
            raise wrong_usage("--check-timeout is about a check, and there is none.", hint="Give one with --check.")
        return None
    return {"command": words, **({"timeout": timeout} if timeout else {})}


@app.command(
    "create",
    epilog=epilog(
        "tidegate verify create nightly-20260101023000 --wait",
        "tidegate verify create --schedule nightly --check 'open-db shop' --check-timeout 5m",
        codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT, *WAIT_CODES),
    ),
)
@with_option_groups
def create_verification(
    ctx: typer.Context,
    *,
    backup: Annotated[
        str, typer.Argument(metavar="BACKUP", help="Which backup; or use --schedule.", autocompletion=names_of(BACKUP))
    ] = "",
    schedule: Annotated[
        str,
        typer.Option(metavar="SCHEDULE", help="The newest good backup of it.", autocompletion=names_of(SCHEDULE)),
    ] = "",
    name: Annotated[
        str, typer.Option(metavar="NAME", help="Name of the verification; empty: <source>-<yyyymmddhhmmss>, in UTC.")
    ] = "",
    check: CheckOption = "",
    check_timeout: CheckTimeout = "",
    job: JobWishes,
) -> None:
    """Restore a backup into a scratch place, read it back from the disk, compare every byte, and remove it again.

    What came of it is told on the backup: tidegate backup describe. Exit code 1 with --wait: it does not restore.
    """
    cli = context_of(ctx)
    if bool(backup) == bool(schedule):
        raise wrong_usage("Say what to verify: a backup, or --schedule.", hint="See what there is: tidegate backup get")
    spec: Wire = {"backupName": backup, "scheduleName": schedule, "check": check_wish(check, check_timeout)}
    full_name = name or f"{backup or schedule}-{cli.clock.now().astimezone(UTC):%Y%m%d%H%M%S}"
    job.ask_for(cli, VERIFY, new_resource("Verification", full_name, spec, labels=job.given_labels))


@app.command("describe", epilog=epilog("tidegate verify describe nightly-check", codes=(ExitCode.NOT_FOUND,)))
def describe(ctx: typer.Context, name: Name, exact_bytes: options.ExactBytes = False) -> None:
    """Tell all about one verification: why it waits, how far it is, each volume, what went wrong."""
    from tidegate.model.transfers.transfer import TRANSFERS
    from tidegate.model.verification.verification import Verification
    from tidegate.views.verification.verification import describe_verification

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(VERIFY, name)
        transfers = read_all(TRANSFERS, transfers_of(client, VERIFY, wire))
    verification = read_resource((Verification,), wire)
    show_sections(cli, describe_verification(verification, transfers, cli.reader(exact_bytes=exact_bytes)))


add_cancel(
    app,
    VERIFY,
    "Call verifications off. Asks first. What was restored for them is removed; nothing is told on the backup.",
    examples=("tidegate verify cancel nightly-check --yes",),
)
add_get(app, VERIFY, "List verifications.", examples=("tidegate verify get", "tidegate verify get -o wide -w"))
add_delete(
    app,
    VERIFY,
    "Delete verifications; what they told on backups stays. Asks first.",
    examples=("tidegate verify delete nightly-check", "tidegate verify delete --all --yes"),
)
add_logs(app, VERIFY)
add_wait(app, VERIFY, example="tidegate verify wait nightly-check --timeout 2h")
