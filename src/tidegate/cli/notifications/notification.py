"""`tidegate notification`: who is told when something went wrong."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import NOTIFICATION
from tidegate.cli.http.wire import Wire, read_all, read_resource, uid_of
from tidegate.cli.options import epilog, read_labels, split_commas
from tidegate.cli.output.resources import show_sections
from tidegate.cli.verbs.attach import add_delete, add_get
from tidegate.cli.verbs.creating import Creation, create, new_resource

app = typer.Typer(no_args_is_help=True, help="Notifications: who is told when something went wrong.")

Name = Annotated[str, options.name_of(NOTIFICATION)]


@app.command(
    "create",
    epilog=epilog(
        "tidegate notification create ops --secret ops-webhook",
        "tidegate notification create chat --type apprise --secret chat --events Failure,VerificationFailure",
        codes=(ExitCode.REJECTED, ExitCode.CONFLICT),
    ),
)
def create_notification(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new notification.")],
    secret: Annotated[
        str,
        typer.Option(metavar="NAME", help="A file in secrets/ of the server's data, with URL=... and SIGNING_KEY=..."),
    ],
    kind: Annotated[str, typer.Option("--type", metavar="TYPE", help="webhook or apprise.")] = "webhook",
    events: Annotated[
        str,
        typer.Option(
            metavar="EVENTS", help="Failure, Recovery, MissedSchedule, VerificationFailure, by commas; empty: all."
        ),
    ] = "",
    labels: options.Labels = None,
    dry_run: options.DryRun = False,
    output: options.Output = None,
) -> None:
    """Have somebody told. The address is a secret: it stays in a file of the server and is never shown."""
    spec: Wire = {"type": kind, "secret": secret, "events": split_commas(events)}
    resource = new_resource("Notification", name, spec, labels=read_labels(labels))
    sentence = f"See whether it arrives: tidegate notification test {name}"
    create(context_of(ctx), NOTIFICATION, Creation(resource, output, dry_run), sentence=lambda _wire: sentence)


@app.command(
    "test",
    epilog=epilog("tidegate notification test ops", codes=(ExitCode.FAILED, ExitCode.REJECTED, ExitCode.NOT_FOUND)),
)
def try_out(ctx: typer.Context, name: Name) -> None:
    """Send a test now, and say whether it was taken."""
    cli = context_of(ctx)
    with cli.connect() as client:
        client.ask_for(NOTIFICATION, name, "test")
    cli.terminal.note(f"The test was taken by the receiver of notification {name}.")
    cli.terminal.out(f"notification/{name}")


@app.command("describe", epilog=epilog("tidegate notification describe ops", codes=(ExitCode.NOT_FOUND,)))
def describe(ctx: typer.Context, name: Name) -> None:
    """Tell all about one notification: what it is for, and what became of its last deliveries."""
    from tidegate.model.notifications.notification import NOTIFICATION_LABEL, Notification, NotificationDelivery
    from tidegate.views.notifications.notification import describe_notification

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.get(NOTIFICATION, name)
        wires = client.list(NotificationDelivery.plural, selector=f"{NOTIFICATION_LABEL}={uid_of(wire)}").items
    rule = read_resource((Notification,), wire)
    show_sections(cli, describe_notification(rule, read_all((NotificationDelivery,), wires), cli.reader()))


add_get(
    app,
    NOTIFICATION,
    "List notifications and whether they arrive.",
    examples=("tidegate notification get", "tidegate notification get ops -o yaml"),
)
add_delete(
    app,
    NOTIFICATION,
    "Delete notifications, and what is still on its way by them. Asks first.",
    examples=("tidegate notification delete ops",),
)
