"""`tidegate schedule`: backups that ask for themselves."""

from contextlib import suppress
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.backups.wishes import BackupWishes
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.http.nouns import BACKUP, SCHEDULE, SYSTEM_BACKUP
from tidegate.cli.http.wire import Wire, name_of, read_all, read_resource
from tidegate.cli.option_groups import with_option_groups
from tidegate.cli.options import epilog, read_labels
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import pretty_json, show_one, show_sections, yaml_text
from tidegate.cli.schedules.change import RetentionWishes, ScheduleChange, system_template, update
from tidegate.cli.schedules.verification import VerificationWishes
from tidegate.cli.system.backup import Policy
from tidegate.cli.verbs.attach import add_delete, add_get
from tidegate.cli.verbs.creating import Creation, create, new_resource

app = typer.Typer(no_args_is_help=True, help="Schedules: backups at set times, and how many of them to keep.")

Name = Annotated[str, options.name_of(SCHEDULE)]
CRON_HELP = "Minute, hour, day of month, month, day of week; or @daily and the like."
Zone = Annotated[str | None, typer.Option(metavar="ZONE", help="Zone of these times; empty: UTC.", show_default=False)]


@app.command(
    "create",
    epilog=epilog(
        'tidegate schedule create nightly --schedule "30 2 * * *" --timezone Europe/Berlin',
        "tidegate schedule create shop --schedule @hourly --include-namespaces shop --keep-hourly 24 --keep-daily 7",
        'tidegate schedule create weekly --schedule "0 3 * * SUN" --ttl 90d --paused',
        'tidegate schedule create db --schedule @daily --verify-schedule "0 6 * * SUN" --verify-check open-db',
        "tidegate schedule create system --schedule @weekly --system-backup if-changed --keep-last 8",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT),
    ),
)
@with_option_groups
def create_schedule(
    ctx: typer.Context,
    *,
    name: Annotated[str, typer.Argument(metavar="NAME", help="Name of the new schedule.")],
    schedule: Annotated[str, typer.Option(metavar="CRON", help=CRON_HELP)],
    timezone: Zone = None,
    wishes: BackupWishes,
    keep: RetentionWishes,
    proof: VerificationWishes,
    system_backup: Annotated[
        Policy | None,
        typer.Option(
            metavar="POLICY", help="Make system backups with this volume backup policy instead.", show_default=False
        ),
    ] = None,
    paused: Annotated[bool, typer.Option("--paused", help="Make no backups until it is resumed.")] = False,
    skip_immediately: Annotated[
        bool, typer.Option("--skip-immediately", help="If it is due at once, wait for the next time.")
    ] = False,
    use_owner_references: Annotated[
        bool, typer.Option("--use-owner-references-in-backup", help="Delete its backups with the schedule.")
    ] = False,
    labels: options.Labels = None,
    dry_run: options.DryRun = False,
    output: options.Output = None,
) -> None:
    """Make backups at set times. A time is skipped while an earlier backup of the schedule is not finished."""
    template = {key: value for key, value in wishes.spec().items() if value is not None}
    spec: Wire = {
        "schedule": schedule,
        "timezone": timezone,
        "template": template,
        "systemBackup": None if system_backup is None else system_template(str(system_backup), template),
        "retention": keep.spec(),
        "paused": paused or None,
        "skipImmediately": skip_immediately or None,
        "useOwnerReferencesInBackup": use_owner_references or None,
        "verification": proof.after(None),
    }
    resource = new_resource("Schedule", name, spec, labels=read_labels(labels))
    cli = context_of(ctx)
    create(cli, SCHEDULE, Creation(resource, output, dry_run), sentence=lambda wire: _sentence(cli, wire))


def _sentence(cli: CliContext, wire: Wire) -> str:
    from tidegate.model.schedules.schedule import Schedule
    from tidegate.views.schedules.schedule import creation_sentence

    return creation_sentence(read_resource((Schedule,), wire), cli.reader())


@app.command(
    "update",
    epilog=epilog(
        'tidegate schedule update nightly --schedule "0 4 * * *"',
        "tidegate schedule update nightly --keep-daily 14 --keep-weekly 0",
        "tidegate schedule update nightly --include-namespaces shop,blog --exclude-namespaces ''",
        "tidegate schedule update nightly --verify-check 'open-db shop' --verify-check-timeout 5m",
        "tidegate schedule update system --volume-backup-policy always --storage-location offsite",
        codes=(ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT),
    ),
)
@with_option_groups
def update_schedule(
    ctx: typer.Context,
    *,
    name: Name,
    schedule: Annotated[str | None, typer.Option(metavar="CRON", help=CRON_HELP, show_default=False)] = None,
    timezone: Zone = None,
    wishes: BackupWishes,
    keep: RetentionWishes,
    proof: VerificationWishes,
    volume_backup_policy: Annotated[
        Policy | None,
        typer.Option(metavar="POLICY", help="Which volumes its system backups back up.", show_default=False),
    ] = None,
    output: options.Output = None,
) -> None:
    """Change what is given and leave the rest; '' takes a value back. Backups that exist stay as they were made.

    New times count from now on: one that is already over today is not caught up. Retention holds at once.
    """
    given = {"schedule": schedule, "timezone": timezone}
    change = ScheduleChange(
        top={key: value for key, value in given.items() if value is not None},
        template=wishes.spec(),
        retention=keep.spec(),
        policy=None if volume_backup_policy is None else str(volume_backup_policy),
        proof=proof,
    )
    cli = context_of(ctx)
    wire = update(cli, name, change)
    cli.terminal.note(f"Updated schedule {name}. {_sentence(cli, wire)}".rstrip())
    show_one(cli, SCHEDULE, wire, output or OutputFormat.NAME)


@app.command("describe", epilog=epilog("tidegate schedule describe nightly", codes=(ExitCode.NOT_FOUND,)))
def describe(ctx: typer.Context, name: Name) -> None:
    """Tell all about one schedule: its times, what it skipped and why, its backups and why each is kept."""
    from tidegate.decide.schedules.retention import plan_retention
    from tidegate.decide.system.schedules import as_run
    from tidegate.model.backups.backup import Backup
    from tidegate.model.schedules.cron import read_zone
    from tidegate.model.schedules.retention import Retention
    from tidegate.model.schedules.schedule import SCHEDULE_LABEL, Schedule
    from tidegate.model.system.system import SystemBackup
    from tidegate.views.schedules.schedule import describe_schedule

    cli = context_of(ctx)
    with cli.connect() as client:
        schedule = read_resource((Schedule,), client.get(SCHEDULE, name))
        noun = BACKUP if schedule.spec.system_backup is None else SYSTEM_BACKUP
        wires = client.list(noun.plural, selector=f"{SCHEDULE_LABEL}={name}").items
    if noun is BACKUP:
        backups = read_all((Backup,), wires)
    else:
        backups = [as_run(system) for system in read_all((SystemBackup,), wires)]
    kept = {}
    rules = schedule.spec.retention or Retention()
    # Of a schedule whose zone nobody knows any more, the rest can still be told.
    with suppress(ValueError):
        plan = plan_retention(backups, rules, read_zone(schedule.spec.timezone), now=cli.clock.now())
        kept = {one.name: one.reasons for one in plan.keep} if rules.keeps_something else {}
    show_sections(cli, describe_schedule(schedule, backups, kept, cli.reader()))


@app.command("pause", epilog=epilog("tidegate schedule pause nightly", codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT)))
def pause(ctx: typer.Context, name: Name, output: options.Output = None) -> None:
    """Make no backups until the schedule is resumed. Its times go by and are not caught up."""
    _set_paused(context_of(ctx), name, output, paused=True)


@app.command("resume", epilog=epilog("tidegate schedule resume nightly", codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT)))
def resume(ctx: typer.Context, name: Name, output: options.Output = None) -> None:
    """Make backups again, from the next time on."""
    _set_paused(context_of(ctx), name, output, paused=False)


def _set_paused(cli: CliContext, name: str, output: OutputFormat | None, *, paused: bool) -> None:
    with cli.connect() as client:
        stored = client.get(SCHEDULE, name)
        wire = client.put(SCHEDULE, {**stored, "spec": {**stored["spec"], "paused": paused}})
    words = f"Paused schedule {name}." if paused else f"Resumed schedule {name}. {_sentence(cli, wire)}"
    cli.terminal.note(words.rstrip())
    show_one(cli, SCHEDULE, wire, output or OutputFormat.NAME)


@app.command(
    "run-now",
    epilog=epilog(
        "tidegate schedule run-now nightly",
        "tidegate backup wait $(tidegate schedule run-now nightly -o name | cut -d/ -f2)",
        codes=(ExitCode.NOT_FOUND, ExitCode.CONFLICT),
    ),
)
def run_now(
    ctx: typer.Context,
    name: Name,
    *,
    force: Annotated[
        bool, typer.Option("--force", help="Also while an earlier backup of the schedule is not finished.")
    ] = False,
    output: options.Output = None,
) -> None:
    """Make a backup of the schedule now, also if it is paused. Its times stay as they are."""
    cli = context_of(ctx)
    with cli.connect() as client:
        wire = client.ask_for(SCHEDULE, name, "run", {"force": "true"} if force else None)
    noun = BACKUP if wire["kind"] == "Backup" else SYSTEM_BACKUP
    cli.terminal.note(f"Created {noun.word} {name_of(wire)}.")
    show_one(cli, noun, wire, output or OutputFormat.NAME)


@app.command(
    "next",
    epilog=epilog(
        "tidegate schedule next nightly",
        "tidegate schedule next nightly --count 20 -o json | jq -r '.times[].utc'",
        codes=(ExitCode.NOT_FOUND,),
    ),
)
def next_times(
    ctx: typer.Context,
    name: Name,
    *,
    count: Annotated[int, typer.Option(metavar="N", min=1, max=100, help="How many.")] = 5,
    output: options.Output = None,
) -> None:
    """Show the coming times, in the zone of the schedule and in UTC."""
    from tidegate.views.schedules.schedule import next_table

    cli = context_of(ctx)
    with cli.connect() as client:
        answer = client.next_times(name, count)
    if output in {OutputFormat.JSON, OutputFormat.JSONL}:
        cli.terminal.out(pretty_json(answer))
    elif output is OutputFormat.YAML:
        cli.terminal.out(yaml_text(answer))
    else:
        for line in next_table(answer["timezone"], [(time["local"], time["utc"]) for time in answer["times"]]):
            cli.terminal.out(line)
    if answer["paused"]:
        cli.terminal.note(f"Schedule {name} is paused: none of these times makes a backup until it is resumed.")


add_get(
    app,
    SCHEDULE,
    "List schedules, when each runs next and what it skipped.",
    examples=("tidegate schedule get", "tidegate schedule get -o wide", "tidegate schedule get nightly -o yaml"),
)
add_delete(
    app,
    SCHEDULE,
    "Delete schedules; their backups stay unless they were made with --use-owner-references-in-backup. Asks first.",
    examples=("tidegate schedule delete nightly",),
)
