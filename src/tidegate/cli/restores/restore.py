"""`tidegate restore`: bring back what a backup holds."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import RESTORE
from tidegate.cli.http.wire import Wire, read_all, read_model, read_resource
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import compact_json, pretty_json, show_sections, show_table, yaml_text
from tidegate.cli.restores.request import NewName, RestoreWishes
from tidegate.cli.verbs.attach import WAIT_CODES, add_cancel, add_delete, add_get, add_logs, add_wait
from tidegate.cli.verbs.job_wishes import JobWishes
from tidegate.cli.verbs.waiting import transfers_of

app = typer.Typer(no_args_is_help=True, help="Restores: requests to bring back what a backup holds.")

Name = Annotated[str, options.name_of(RESTORE)]


@app.command(
    "create",
    epilog=epilog(
        "tidegate restore create --from-backup nightly --wait",
        "tidegate restore create --from-schedule nightly --include-namespaces shop --existing-data overwrite",
        "tidegate restore create look --from-backup nightly --to ./look --include-paths 'etc/**'",
        "tidegate restore create --from-backup nightly --namespace-mappings shop:shop-copy",
        "tidegate restore create --from-url 's3://bucket@region/?backup=backup-1&volume=pvc-1' --to /srv/back",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT, *WAIT_CODES),
    ),
)
@with_option_groups
def create_restore(
    ctx: typer.Context,
    *,
    name: NewName = "",
    wishes: RestoreWishes,
    job: JobWishes,
) -> None:
    """Ask for a restore. It waits until nothing else works on the namespaces that it writes to."""
    cli = context_of(ctx)
    resource = wishes.resource(cli, name, job.labels)
    job.ask_for(cli, RESTORE, resource, sentence=lambda _: _plan_sentence(cli, resource) if job.dry_run else "")


def _plan_sentence(cli: CliContext, resource: Wire) -> str:
    from tidegate.model.restores.restore_plan import RestorePlan
    from tidegate.views.restores.restore_plan import plan_sentence

    with cli.connect() as client:
        return plan_sentence(read_model(RestorePlan, client.plan(resource), "plan"))


@app.command(
    "plan",
    epilog=epilog(
        "tidegate restore plan --from-backup nightly",
        "tidegate restore plan --from-schedule nightly --namespace-mappings shop:shop-copy -o json",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT),
    ),
)
@with_option_groups
def plan_restore(
    ctx: typer.Context,
    *,
    name: NewName = "",
    wishes: RestoreWishes,
    output: options.Output = None,
) -> None:
    """Tell what a restore would do, conflicts first; changes nothing. Ends with 6 if there are conflicts."""
    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.plan(wishes.resource(cli, name))
    _show_plan(cli, wire, output or OutputFormat.TABLE)


def _show_plan(cli: CliContext, wire: Wire, form: OutputFormat) -> None:
    from tidegate.model.restores.restore_plan import RestorePlan
    from tidegate.views.restores.restore_plan import PLANNED_VOLUMES, plan_sections, plan_sentence

    plan = read_model(RestorePlan, wire, "plan")
    if plan.conflicts:
        cli.end_with(ExitCode.CONFLICT)
    if form is OutputFormat.JSON:
        cli.terminal.out(pretty_json(wire))
    elif form is OutputFormat.JSONL:
        cli.terminal.out(compact_json(wire))
    elif form is OutputFormat.YAML:
        cli.terminal.out(yaml_text(wire))
    elif form is OutputFormat.NAME:
        for volume in plan.volumes:
            cli.terminal.out(f"volume/{volume.target_volume}")
    else:
        cli.terminal.note(plan_sentence(plan))
        if told := plan_sections(plan):
            show_sections(cli, told)
            cli.terminal.out("")
        show_table(cli, PLANNED_VOLUMES, plan.volumes, wide=form is OutputFormat.WIDE)


@app.command("describe", epilog=epilog("tidegate restore describe look", codes=(ExitCode.NOT_FOUND,)))
def describe(ctx: typer.Context, name: Name, exact_bytes: options.ExactBytes = False) -> None:
    """Tell all about one restore: why it waits, how far it is, each volume, what went wrong."""
    from tidegate.model.restores.restore import Restore
    from tidegate.model.transfers.transfer import TRANSFERS
    from tidegate.views.restores.restore import describe_restore

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(RESTORE, name)
        transfers = transfers_of(client, RESTORE, wire)
    restore = read_resource((Restore,), wire)
    show_sections(cli, describe_restore(restore, read_all(TRANSFERS, transfers), cli.reader(exact_bytes=exact_bytes)))


add_cancel(
    app,
    RESTORE,
    "Call restores off. Asks first.\n\n"
    "One that waits ends as Canceled at once, with nothing written. One in progress stops its downloads: volumes that "
    "are back stay, those that are not are left as they were, except block devices, which may be half written. What is "
    "over cannot be cancelled.",
    examples=("tidegate restore cancel look", "tidegate restore cancel look --yes --wait --timeout 10m"),
)
add_get(app, RESTORE, "List restores.", examples=("tidegate restore get", "tidegate restore get -w -o wide"))
add_delete(
    app,
    RESTORE,
    "Delete restores; what they brought back stays. Asks first.",
    examples=("tidegate restore delete look", "tidegate restore delete --all --yes"),
)
add_logs(app, RESTORE)
add_wait(app, RESTORE, example="tidegate restore wait look --timeout 30m")
