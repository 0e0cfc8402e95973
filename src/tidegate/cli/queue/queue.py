"""`tidegate queue`: who waits for what, and what can be done about it."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import BACKUP, SETTING
from tidegate.cli.http.whole_watch import watch_whole
from tidegate.cli.http.wire import Wire, read_model
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import compact_json, pretty_json, show_one, show_sections, show_table, yaml_text
from tidegate.cli.queue.simulation import simulate
from tidegate.cli.verbs.creating import new_resource

app = typer.Typer(no_args_is_help=True, help="The queue: who waits for what, and what can be done about it.")

Name = Annotated[str, options.name_of(BACKUP)]

_PAUSED = "backup-queue-paused"


@app.command(
    "list",
    epilog=epilog(
        "tidegate queue list",
        "tidegate queue list -o wide -w",
        "tidegate queue list -o json | jq -r '.waiting[].name'",
        codes=(ExitCode.INTERRUPTED,),
    ),
)
def list_queue(
    ctx: typer.Context,
    *,
    output: options.Output = None,
    watch: Annotated[bool, options.watch_of("the whole queue")] = False,
) -> None:
    """Show the queue in its order: why each backup waits and when it will probably start."""
    cli = context_of(ctx)
    form = output or OutputFormat.TABLE
    if watch:
        # A change of one backup can move all the others, so the whole queue is shown anew.
        kinds = (*BACKUP.plurals, *SETTING.plurals)
        watch_whole(cli, kinds, Client.queue, lambda wire: _show(cli, wire, form, one_line=True))
        return
    with cli.connect() as client:
        _show(cli, client.queue(), form)


def _show(cli: CliContext, wire: Wire, form: OutputFormat, *, one_line: bool = False) -> None:
    from tidegate.model.queue.queue import Queue
    from tidegate.views.queue.queue import QUEUE, queue_headline

    if form is OutputFormat.JSON:
        cli.terminal.out(compact_json(wire) if one_line else pretty_json(wire))
    elif form is OutputFormat.YAML:
        cli.terminal.out(f"---\n{yaml_text(wire)}" if one_line else yaml_text(wire))
    elif form is OutputFormat.JSONL:
        for waiting in wire.get("waiting", []):
            cli.terminal.out(compact_json(waiting))
    elif form is OutputFormat.NAME:
        for waiting in wire.get("waiting", []):
            cli.terminal.out(f"{BACKUP.word}/{waiting['name']}")
    else:
        queue = read_model(Queue, wire, "queue")
        cli.terminal.note(queue_headline(queue))
        show_table(cli, QUEUE, queue.waiting, wide=form is OutputFormat.WIDE)


@app.command(
    "explain",
    epilog=epilog(
        "tidegate queue explain nightly",
        "tidegate queue explain nightly -o json | jq -r '.obstacles[].reason'",
        codes=(ExitCode.NOT_FOUND,),
    ),
)
def explain(ctx: typer.Context, *, name: Name, output: options.Output = None) -> None:
    """Tell why a backup waits: every obstacle, what has to end first, and when it will probably start."""
    from tidegate.model.queue.queue import QueueExplanation
    from tidegate.views.queue.queue import explain_wait, no_wait_sentence

    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.explain(name)
    if output in {OutputFormat.JSON, OutputFormat.JSONL}:
        cli.terminal.out(pretty_json(wire) if output is OutputFormat.JSON else compact_json(wire))
    elif output is OutputFormat.YAML:
        cli.terminal.out(yaml_text(wire))
    elif output is OutputFormat.NAME:
        cli.terminal.out(f"{BACKUP.word}/{name}")
    else:
        explanation = read_model(QueueExplanation, wire, "explanation")
        if explanation.position is None:
            cli.terminal.note(no_wait_sentence(explanation))
        show_sections(cli, explain_wait(explanation, cli.reader()))


@app.command("pause", epilog=epilog("tidegate queue pause"))
def pause(ctx: typer.Context) -> None:
    """Let no more backups start; what runs goes on, and what waits keeps its place."""
    cli = context_of(ctx)
    resource = new_resource("Setting", _PAUSED, {"value": "true"}, labels={})
    with cli.connect() as client:
        client.put(SETTING, resource)
    cli.terminal.note("The queue is paused; go on with: tidegate queue resume")
    cli.terminal.out(f"{SETTING.word}/{_PAUSED}")


@app.command("resume", epilog=epilog("tidegate queue resume"))
def resume(ctx: typer.Context) -> None:
    """Let backups start again."""
    cli = context_of(ctx)
    with cli.connect() as client:
        client.delete(SETTING, _PAUSED, dry_run=False)
    cli.terminal.note("The queue moves again.")
    cli.terminal.out(f"{SETTING.word}/{_PAUSED}")


@app.command(
    "move",
    epilog=epilog(
        "tidegate queue move before-upgrade --to 1",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT),
    ),
)
def move(
    ctx: typer.Context,
    *,
    name: Name,
    to: Annotated[int, typer.Option("--to", metavar="N", min=1, help="1 is the head; more than there are: the end.")],
    output: options.Output = None,
) -> None:
    """Put a queued backup at another place, whatever its priority; the others keep their order."""
    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.move(name, to)
    cli.terminal.note(f"Backup {name} is number {wire['status'].get('queuePosition')} in the queue.")
    show_one(cli, BACKUP, wire, output or OutputFormat.NAME)


app.command(
    "simulate",
    epilog=epilog(
        "tidegate queue simulate --limit 1 --limit 2 --limit 4",
        "tidegate queue simulate --save tonight.json",
        "tidegate queue simulate --file tonight.json --limit 8 -o json",
        codes=(ExitCode.REJECTED,),
    ),
)(simulate)
