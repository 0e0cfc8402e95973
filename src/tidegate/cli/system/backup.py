"""`tidegate system backup`: all definitions and settings in one archive, with backups of volumes by a policy."""

from enum import StrEnum
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import SYSTEM_BACKUP, TARGET
from tidegate.cli.http.wire import Wire, read_resource
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog
from tidegate.cli.output.resources import show_sections
from tidegate.cli.verbs.attach import WAIT_CODES, add_delete, add_get, add_wait
from tidegate.cli.verbs.creating import new_resource
from tidegate.cli.verbs.job_wishes import JobWishes

app = typer.Typer(no_args_is_help=True, help="System backups: archives of all definitions and settings.")


class Policy(StrEnum):
    """As the API has them; named here, because models are slow to load."""

    IF_NOT_PRESENT = "if-not-present"
    IF_CHANGED = "if-changed"
    ALWAYS = "always"
    DISABLED = "disabled"


PolicyOption = Annotated[
    Policy,
    typer.Option(help="Which volumes to back up first: those without a backup, those that changed, all, or none."),
]
Name = Annotated[str, options.name_of(SYSTEM_BACKUP)]


@app.command(
    "create",
    epilog=epilog(
        "tidegate system backup create before-upgrade --wait",
        "tidegate system backup create weekly-7 --volume-backup-policy if-changed --target offsite",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT, *WAIT_CODES),
    ),
)
@with_option_groups
def create_system_backup(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new system backup; never one that exists.")],
    volume_backup_policy: PolicyOption = Policy.IF_NOT_PRESENT,
    target: Annotated[
        str, typer.Option(metavar="NAME", help="Target; empty: the default one.", autocompletion=names_of(TARGET))
    ] = "",
    job: JobWishes,
) -> None:
    """Write all definitions and settings to a target, after backups of volumes according to the policy.

    These pass the queue as all others do. One that fails makes the whole an Error that names the volume.
    """
    spec: Wire = {"volumeBackupPolicy": str(volume_backup_policy), "target": target}
    resource = new_resource("SystemBackup", name, spec, labels=job.given_labels)
    job.ask_for(context_of(ctx), SYSTEM_BACKUP, resource)


@app.command("describe", epilog=epilog("tidegate system backup describe weekly-7", codes=(ExitCode.NOT_FOUND,)))
def describe(ctx: typer.Context, name: Name, exact_bytes: options.ExactBytes = False) -> None:
    """Tell all about one: where its archive is, and of each volume what was decided, why, and how far it is."""
    from tidegate.model.system.system import SystemBackup
    from tidegate.views.system.backup import describe_system_backup

    cli = context_of(ctx)
    with cli.connect() as client:
        system = read_resource((SystemBackup,), client.get(SYSTEM_BACKUP, name))
    show_sections(cli, describe_system_backup(system, cli.reader(exact_bytes=exact_bytes)))


add_get(
    app,
    SYSTEM_BACKUP,
    "List system backups, also those that were found in a store.",
    examples=("tidegate system backup get", "tidegate system backup get -o wide"),
)
add_delete(
    app,
    SYSTEM_BACKUP,
    "Delete system backups with their archives and the volume backups that only they rely on. Asks first.",
    examples=("tidegate system backup delete before-upgrade",),
)
add_wait(app, SYSTEM_BACKUP, example="tidegate system backup wait weekly-7 --timeout 2h")
