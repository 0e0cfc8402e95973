"""The verb `logs`: what happened to a job and to each of its volumes."""

from tidegate.cli.context import CliContext
from tidegate.cli.http.nouns import RESTORE, VERIFY, Job
from tidegate.cli.http.wire import Wire, read_all, read_resource
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import compact_json, pretty_json, show_table, yaml_text
from tidegate.cli.verbs.waiting import transfers_of


def show_log(cli: CliContext, noun: Job, name: str, output: OutputFormat | None) -> None:
    """Lines by time: as a table, or as objects."""
    from tidegate.model.backups.backup import Backup
    from tidegate.model.restores.restore import Restore
    from tidegate.model.transfers.transfer import TRANSFERS
    from tidegate.model.verification.verification import Verification
    from tidegate.views.job_log import JOB_LOG, job_log

    with cli.connect() as client:
        wire = client.get(noun, name)
        transfers = read_all(TRANSFERS, transfers_of(client, noun, wire))
    job: Backup | Restore | Verification
    if noun is RESTORE:
        job = read_resource((Restore,), wire)
    else:
        job = read_resource((Verification,), wire) if noun is VERIFY else read_resource((Backup,), wire)
    lines = job_log(job, transfers)
    form = output or OutputFormat.TABLE
    documents: list[Wire] = [
        {"time": line.at.isoformat(), "who": line.who, "what": line.what, "message": line.message} for line in lines
    ]
    if form is OutputFormat.JSONL:
        for document in documents:
            cli.terminal.out(compact_json(document))
    elif form is OutputFormat.JSON:
        cli.terminal.out(pretty_json({"kind": "Log", "items": documents}))
    elif form is OutputFormat.YAML:
        cli.terminal.out(yaml_text({"kind": "Log", "items": documents}))
    elif form is OutputFormat.NAME:
        cli.terminal.out(f"{noun.word}/{name}")
    else:
        show_table(cli, JOB_LOG, lines, wide=form is OutputFormat.WIDE)
