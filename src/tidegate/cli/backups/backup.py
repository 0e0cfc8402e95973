"""`tidegate backup`: protect namespaces, see how it goes, and let go of old backups."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli import options
from tidegate.cli.backups.files import add_file_verbs
from tidegate.cli.backups.longhorn import add_longhorn_verbs
from tidegate.cli.backups.pin import add_pin_verbs
from tidegate.cli.backups.wishes import BackupWishes
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import BACKUP, RESTORE
from tidegate.cli.http.wire import Wire, read_all, read_model, read_resource
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog
from tidegate.cli.output.resources import show_sections
from tidegate.cli.verbs.attach import WAIT_CODES, add_cancel, add_delete, add_get, add_logs, add_wait
from tidegate.cli.verbs.creating import new_resource
from tidegate.cli.verbs.job_wishes import JobWishes
from tidegate.cli.verbs.waiting import transfers_of
from tidegate.errors import NotFound, ServerUnreachable

if TYPE_CHECKING:
    from tidegate.model.queue.queue import QueueExplanation

app = typer.Typer(no_args_is_help=True, help="Backups: requests to protect namespaces.")

Name = Annotated[str, options.name_of(BACKUP)]
Names = Annotated[
    list[str] | None,
    options.only_these(BACKUP),
]


@app.command(
    "create",
    epilog=epilog(
        "tidegate backup create nightly --include-namespaces shop,blog --wait",
        "tidegate backup create before-upgrade --selector app=shop --ttl 7d --priority 10",
        "tidegate backup create big --on-interruption Requeue",
        "tidegate backup create db --pre-hook 'db-freeze shop' --post-hook db-thaw --hook-timeout 1m",
        "tidegate backup create shop --ordered-resources volumes=shop/db,shop/files",
        "tidegate backup create nightly --dry-run",
        codes=(ExitCode.CONFLICT, *WAIT_CODES),
    ),
)
@with_option_groups
def create_backup(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new backup.")],
    wishes: BackupWishes,
    job: JobWishes,
) -> None:
    """Ask for a backup. It waits in the queue until no other one works on the same namespaces."""
    resource = new_resource("Backup", name, wishes.spec(), labels=job.given_labels)
    job.ask_for(context_of(ctx), BACKUP, resource, sentence=lambda wire: _queue_sentence(wire, dry_run=job.dry_run))


def _queue_sentence(wire: Wire, *, dry_run: bool) -> str:
    from tidegate.model.backups.backup import Backup
    from tidegate.views.backups.backup import queue_sentence

    return queue_sentence(read_resource((Backup,), wire), dry_run=dry_run)


@app.command(
    "describe",
    epilog=epilog("tidegate backup describe nightly", codes=(ExitCode.NOT_FOUND,)),
)
def describe(ctx: typer.Context, name: Name, exact_bytes: options.ExactBytes = False) -> None:
    """Tell all about one backup: why it waits, how far it is, each volume, what went wrong."""
    from tidegate.model.backups.backup import Backup
    from tidegate.model.transfers.transfer import TRANSFERS
    from tidegate.views.backups.backup import describe_backup

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(BACKUP, name)
        transfers = read_all(TRANSFERS, transfers_of(client, BACKUP, wire))
        explanation = _explanation(client, name) if wire.get("status", {}).get("phase") == "Queued" else None
    backup = read_resource((Backup,), wire)
    show_sections(cli, describe_backup(backup, transfers, cli.reader(exact_bytes=exact_bytes), explanation=explanation))


def _explanation(client: Client, name: str) -> "QueueExplanation | None":
    """More about its wait; an older server has nothing to say about that, and the backup may just have gone."""
    from tidegate.model.queue.queue import QueueExplanation

    try:
        return read_model(QueueExplanation, client.explain(name), "explanation")
    except (NotFound, ServerUnreachable):
        return None


def _reading_restores(client: Client, names: list[str]) -> Iterable[str]:
    from tidegate.model.restores.restore import Restore
    from tidegate.views.dependents import dependents_of_backup

    restores = read_all((Restore,), client.list(RESTORE.plural).items)
    return [sentence for name in names for sentence in dependents_of_backup(name, restores)]


add_cancel(
    app,
    BACKUP,
    "Call backups off. Asks first.\n\n"
    "One that waits ends as Canceled at once. One in progress stops its transfers and ends as Canceled, within five "
    "minutes whatever they do; one that is Finalizing ends as it would have. What is over cannot be cancelled.",
    examples=(
        "tidegate backup cancel nightly",
        "tidegate backup cancel nightly-1 nightly-2 --yes --wait --timeout 10m",
    ),
)
add_get(
    app,
    BACKUP,
    "List backups, with their place in the queue and what they wait for.",
    examples=(
        "tidegate backup get",
        "tidegate backup get -o wide -w",
        "tidegate backup get nightly -o json | jq .status.phase",
    ),
)
add_delete(
    app,
    BACKUP,
    "Delete backups and their data in the store. Asks first.",
    examples=(
        "tidegate backup delete nightly-1 nightly-2",
        "tidegate backup delete --all -l app=shop --yes --wait --timeout 10m",
    ),
    dependents=_reading_restores,
)
add_longhorn_verbs(app)
add_pin_verbs(app)
add_file_verbs(app)
add_logs(app, BACKUP)
add_wait(app, BACKUP, example="tidegate backup wait nightly-1 nightly-2 --timeout 30m")
