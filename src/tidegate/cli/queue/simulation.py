"""`queue simulate`: the server's own decisions, made here, on a clock that only jumps."""

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.http.wire import Wire, read_model
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import compact_json, pretty_json, show_table, yaml_text
from tidegate.cli.output.terminal import printable
from tidegate.errors import InvalidInput

if TYPE_CHECKING:
    from tidegate.model.queue.queue import Workload
    from tidegate.views.queue.queue import SimulatedLimit

_PICTURE_WIDTH = 40


def simulate(
    ctx: typer.Context,
    *,
    limit: Annotated[
        list[int] | None,
        typer.Option(
            "--limit",
            metavar="N",
            min=1,
            max=10_000,
            help="Value of concurrent-backups to try; repeated. None: as now.",
        ),
    ] = None,
    file: Annotated[
        str, typer.Option("--file", metavar="FILE", help="A recorded workload; needs no server. Empty: the queue now.")
    ] = "",
    save: Annotated[str, typer.Option("--save", metavar="FILE", help="Write the workload to this file, too.")] = "",
    output: options.Output = None,
) -> None:
    """Try limits before setting one: how long everything takes, how long backups wait, how full the slots are.

    Durations are those of the past, so the answer is as good as tomorrow is like yesterday. Waits count from now on.
    """
    cli = context_of(ctx)
    wire = _from_file(cli, file) if file else _from_server(cli)
    workload = _read(wire, file)
    if save:
        _save(cli, save, workload)
    found = [_simulated(workload, one) for one in dict.fromkeys(limit or [workload.limit])]
    _show(cli, workload, found, output or OutputFormat.TABLE)


def _from_server(cli: CliContext) -> Wire:
    with cli.connect() as client:
        return client.workload()


def _from_file(cli: CliContext, name: str) -> Wire:
    try:
        document = json.loads(cli.environment.absolute(name).read_bytes())
    except OSError as error:
        raise InvalidInput(f"Cannot read {name}: {error.strerror}.", field="--file") from error
    except (ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} is not JSON: {error}.", field="--file") from error
    if not isinstance(document, dict):
        raise InvalidInput(f"{name} holds no workload.", field="--file", hint="Write one with: queue simulate --save")
    return document


def _read(wire: Wire, file: str) -> "Workload":
    from pydantic import ValidationError

    from tidegate.model.queue.queue import Workload

    if not file:
        return read_model(Workload, wire, "workload")
    try:
        return Workload.model_validate(wire)
    except ValidationError as error:
        first = error.errors()[0]
        path = ".".join(str(part) for part in first["loc"])
        sentence = first["msg"].removeprefix("Value error, ")
        raise InvalidInput(f"{file}: {path + ': ' if path else ''}{sentence}.", field=path) from error


def _save(cli: CliContext, name: str, workload: "Workload") -> None:
    path = cli.environment.absolute(name)
    try:
        path.write_text(pretty_json(workload.to_wire()) + "\n")
    except OSError as error:
        raise InvalidInput(f"Cannot write {name}: {error.strerror}.", field="--save") from error
    cli.terminal.note(f"Wrote a workload of {len(workload.backups)} backups to {printable(name)}.")


def _simulated(workload: "Workload", limit: int) -> "SimulatedLimit":
    from tidegate.decide.queue.workload import forecast
    from tidegate.views.queue.queue import SimulatedLimit

    found = forecast(workload, limit=limit)
    return SimulatedLimit(
        limit=limit,
        makespan=found.makespan,
        wait_p50=found.wait_percentile(50),
        wait_p95=found.wait_percentile(95),
        wait_max=found.wait_percentile(100),
        slot_use=found.slot_use,
        busy_slots=tuple(found.busy_slots(_PICTURE_WIDTH)),
        never=found.never,
    )


def _show(cli: CliContext, workload: "Workload", found: "list[SimulatedLimit]", form: OutputFormat) -> None:
    from tidegate.views.queue.queue import SIMULATED, SIMULATED_WITH_PICTURE

    document = {"backups": len(workload.backups), "limits": [_wire(one) for one in found]}
    match form:
        case OutputFormat.JSON:
            cli.terminal.out(pretty_json(document))
        case OutputFormat.YAML:
            cli.terminal.out(yaml_text(document))
        case OutputFormat.JSONL:
            for one in found:
                cli.terminal.out(compact_json(_wire(one)))
        case OutputFormat.NAME:
            for one in found:
                cli.terminal.out(str(one.limit))
        case _:
            if found[0].never:
                names = printable(", ".join(found[0].never))
                cli.terminal.note(f"Not counted, because their target does not answer: {names}")
            draws = form is OutputFormat.WIDE or cli.terminal.draws
            show_table(cli, SIMULATED_WITH_PICTURE if draws else SIMULATED, found, wide=False)


def _wire(found: "SimulatedLimit") -> Wire:
    from pydantic.alias_generators import to_camel

    return {to_camel(name): list(v) if isinstance(v, tuple) else v for name, v in asdict(found).items()}
