"""`tidegate load`: what each node carries, and how much it may carry."""

from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.documents import read_document
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import NODE, SETTING, TRANSFER
from tidegate.cli.http.whole_watch import watch_whole
from tidegate.cli.http.wire import Wire, read_model
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import compact_json, pretty_json, show_sections, show_table, yaml_text

app = typer.Typer(no_args_is_help=True, help="The load: what each node carries, and how much it may carry.")


@app.command(
    "status",
    epilog=epilog(
        "tidegate load status",
        "tidegate load status -w",
        "tidegate load status -o json | jq '.nodes[] | {name} + .load'",
        codes=(ExitCode.INTERRUPTED,),
    ),
)
def status(
    ctx: typer.Context,
    *,
    output: options.Output = None,
    watch: Annotated[bool, options.watch_of("the whole load")] = False,
) -> None:
    """Show what each node carries and may carry, the prepare queue, the restores, and who waits for what."""
    cli = context_of(ctx)
    form = output or OutputFormat.TABLE
    if watch:
        kinds = (*TRANSFER.plurals, *NODE.plurals, *SETTING.plurals)
        watch_whole(cli, kinds, Client.load, lambda wire: _show(cli, wire, form, one_line=True))
        return
    with cli.connect() as client:
        _show(cli, client.load(), form)


def _show(cli: CliContext, wire: Wire, form: OutputFormat, *, one_line: bool = False) -> None:
    from tidegate.model.transfers.load_status import LoadStatus
    from tidegate.views.transfers.load_words import LOADED_NODES, describe_load

    if form is OutputFormat.JSON:
        cli.terminal.out(compact_json(wire) if one_line else pretty_json(wire))
    elif form is OutputFormat.YAML:
        cli.terminal.out(f"---\n{yaml_text(wire)}" if one_line else yaml_text(wire))
    elif form in {OutputFormat.JSONL, OutputFormat.NAME}:
        for node in wire.get("nodes", []):
            cli.terminal.out(compact_json(node) if form is OutputFormat.JSONL else f"{NODE.word}/{node['name']}")
    else:
        load = read_model(LoadStatus, wire, "load")
        show_table(cli, LOADED_NODES, load.nodes, wide=form is OutputFormat.WIDE)
        cli.terminal.out("")
        show_sections(cli, describe_load(load))


@app.command(
    "set",
    epilog=epilog(
        "tidegate load set --global 2 --prepare-queue 10",
        "tidegate load set --node-rule 'disk=slow:1' --node-rule 'zone in (a,b):4' --dry-run",
        "tidegate load set --file load.json",
        "tidegate load set --clear",
        codes=(ExitCode.REJECTED, ExitCode.CONFLICT),
    ),
)
def set_load(
    ctx: typer.Context,
    *,
    global_config: Annotated[
        int | None,
        typer.Option(
            "--global",
            metavar="N",
            help="Transfers at once on nodes that no rule chooses.",
        ),
    ] = None,
    prepare_queue: Annotated[
        int | None,
        typer.Option(metavar="N", help="Transfers of all kinds that may be made ready ahead; 0: unconstrained."),
    ] = None,
    restore_share: Annotated[
        int | None,
        typer.Option(metavar="N", help="Restores that go before older backups on each node."),
    ] = None,
    node_rule: Annotated[
        list[str] | None,
        typer.Option(metavar="SELECTOR:N", help="A limit for nodes with these labels; those given replace all rules."),
    ] = None,
    no_node_rules: Annotated[bool, typer.Option("--no-node-rules", help="Remove all rules.")] = False,
    file: Annotated[str, typer.Option(metavar="FILE", help="Take everything from this JSON.")] = "",
    clear: Annotated[bool, typer.Option("--clear", help="Everything as it was before anybody set it.")] = False,
    dry_run: options.DryRun = False,
    output: options.Output = None,
) -> None:
    """Change limits, at once and without a restart; what is not given stays. Running transfers go on to their end."""
    cli = context_of(ctx)
    numbers = {"globalConfig": global_config, "prepareQueueLength": prepare_queue, "restoreShare": restore_share}
    changes: Wire = {name: number for name, number in numbers.items() if number is not None}
    if node_rule or no_node_rules:
        changes["perNodeConfig"] = [_rule(text) for text in node_rule or ()]
    _check_usage(changes, file=file, clear=clear, contradicts=bool(node_rule) and no_node_rules)
    whole = _from_file(cli, file) if file else {} if clear else None
    with cli.connect() as client:
        before = client.load()
        wanted = {**before.get("configuration", {}), **changes} if whole is None else whole
        after = client.put_load(wanted, version=str(before.get("version", "")), dry_run=dry_run)
    _tell_changes(cli, before, after, dry_run=dry_run)
    _show(cli, after, output or OutputFormat.TABLE)


def _check_usage(changes: Wire, *, file: str, clear: bool, contradicts: bool) -> None:
    if contradicts:
        raise wrong_usage("--node-rule and --no-node-rules contradict each other.")
    if sum((bool(changes), bool(file), clear)) != 1:
        raise wrong_usage(
            "What shall be changed?" if not (changes or file or clear) else "That is more than one way to say it.",
            hint="Give limits such as --global 2, or --file FILE, or --clear.",
        )


def _rule(text: str) -> Wire:
    from tidegate.model.transfers.node_selector import NodeSelector

    selector, colon, number = text.rpartition(":")
    if not colon or not selector.strip() or not (number.isascii() and number.isdigit()):
        raise wrong_usage(
            f"--node-rule {text!r} is not a rule.", hint="Write labels, a colon and a number, such as disk=slow:1."
        )
    try:
        chosen = NodeSelector.parse(selector)
    except ValueError as error:
        raise wrong_usage(f"--node-rule {text!r}: {error}.") from None
    # The number is judged by the server, with the path of the mistake.
    return {"nodeSelector": chosen.to_wire(), "number": int(number)}


def _from_file(cli: CliContext, name: str) -> Wire:
    """Read here, so that a mistake is told with the name of the file; the server reads it again."""
    from tidegate.model.transfers.load import parse_load_concurrency

    return read_document(cli.environment.absolute(name), parse_load_concurrency, option="--file").to_wire()


def _tell_changes(cli: CliContext, before: Wire, after: Wire, *, dry_run: bool) -> None:
    from tidegate.model.transfers.load_status import LoadStatus
    from tidegate.views.transfers.load_words import load_changes

    lines = load_changes(read_model(LoadStatus, before, "load"), read_model(LoadStatus, after, "load"))
    if not lines:
        cli.terminal.note("All limits stay as they are.")
        return
    opening = "Nothing was changed; it would be:" if dry_run else "Changed:"
    cli.terminal.note("\n".join([opening, *(f"  {line}" for line in lines)]))
