"""`tidegate system restore`: bring the system back from a system backup."""

from enum import StrEnum
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import SYSTEM_BACKUP, SYSTEM_RESTORE
from tidegate.cli.http.wire import Wire, read_resource
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import show_one, show_sections, show_table
from tidegate.cli.verbs.attach import WAIT_CODES, add_delete, add_get, add_wait
from tidegate.cli.verbs.creating import new_resource, send
from tidegate.cli.verbs.job_wishes import JobWishes

app = typer.Typer(no_args_is_help=True, help="System restores: the way back from a system backup.")


class Volumes(StrEnum):
    """As the API has them; named here, because models are slow to load."""

    NONE = "none"
    MISSING = "missing"
    ALL = "all"


Name = Annotated[str, options.name_of(SYSTEM_RESTORE)]


@app.command(
    "create",
    epilog=epilog(
        "tidegate system restore create --from weekly-7 --dry-run",
        "tidegate system restore create --from weekly-7 --wait",
        "tidegate system restore create back --from file:///mnt/store/backupstore/system-backups/VERSION/weekly-7",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT, *WAIT_CODES),
    ),
)
@with_option_groups
def create_system_restore(
    ctx: typer.Context,
    *,
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="Name of the new system restore; empty: restore-<yyyymmddhhmmss>.")
    ] = "",
    source: Annotated[
        str,
        typer.Option(
            "--from",
            metavar="NAME|URL",
            help="A system backup: its name, here or in the store of a target, or its URL.",
            autocompletion=names_of(SYSTEM_BACKUP),
        ),
    ],
    volumes: Annotated[
        Volumes, typer.Option(help="Whose data comes back: nobody's, of volumes with nothing at their place, or all.")
    ] = Volumes.MISSING,
    job: JobWishes,
) -> None:
    """Bring back settings, targets, volumes and schedules, then the data of volumes from the very backups it names.

    What exists is updated, nothing is deleted; limits of restores and targets that exist stay as they are. A volume
    that fails does not stop the others and is named at the end. With --dry-run the plan is shown.
    """
    cli = context_of(ctx)
    name = name or f"restore-{cli.clock.now():%Y%m%d%H%M%S}"
    spec: Wire = {"systemBackup": source, "volumes": str(volumes)}
    resource = new_resource("SystemRestore", name, spec, labels=job.given_labels)
    if job.dry_run:
        _show_plan(cli, send(cli, SYSTEM_RESTORE, job.creation(resource)), job.output or OutputFormat.TABLE)
    else:
        job.ask_for(cli, SYSTEM_RESTORE, resource)


def _show_plan(cli: CliContext, wire: Wire, form: OutputFormat) -> None:
    from tidegate.model.system.system_restore import SystemRestore
    from tidegate.views.system.restore import PLANNED_DEFINITIONS, PLANNED_VOLUMES, plan_sentence

    system = read_resource((SystemRestore,), wire)
    cli.terminal.note(plan_sentence(system))
    if not form.is_table:
        show_one(cli, SYSTEM_RESTORE, wire, form)
        return
    show_table(cli, PLANNED_DEFINITIONS, system.status.definitions, wide=True)
    if system.status.definitions and system.status.volumes:
        cli.terminal.out("")
    show_table(cli, PLANNED_VOLUMES, system.status.volumes, wide=True)


@app.command("describe", epilog=epilog("tidegate system restore describe back", codes=(ExitCode.NOT_FOUND,)))
def describe(ctx: typer.Context, name: Name) -> None:
    """Tell all about one: each definition and what became of it, each volume and how far it is."""
    from tidegate.model.system.system_restore import SystemRestore
    from tidegate.views.system.restore import describe_system_restore

    cli = context_of(ctx)
    with cli.connect() as client:
        system = read_resource((SystemRestore,), client.get(SYSTEM_RESTORE, name))
    show_sections(cli, describe_system_restore(system, cli.reader()))


add_get(app, SYSTEM_RESTORE, "List system restores.", examples=("tidegate system restore get",))
add_delete(
    app,
    SYSTEM_RESTORE,
    "Delete system restores; what they brought back stays, what they still bring back is stopped. Asks first.",
    examples=("tidegate system restore delete back",),
)
add_wait(app, SYSTEM_RESTORE, example="tidegate system restore wait back --timeout 2h")
