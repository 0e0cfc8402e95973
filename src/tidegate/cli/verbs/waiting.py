"""Waiting for a job to end: what `--wait` and the verb `wait` do."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from tidegate.cli.context import CliContext
from tidegate.cli.exit_codes import PHASE_EXIT_CODES, ExitCode
from tidegate.cli.failures import CommandFailure, failure_of
from tidegate.cli.http.client import Client, Listing
from tidegate.cli.http.events import ResourceEvent
from tidegate.cli.http.following import Deadline, Moment, Versions, follow
from tidegate.cli.http.nouns import RESTORE, SYSTEM_BACKUP, SYSTEM_RESTORE, VERIFY, Job
from tidegate.cli.http.wire import Wire, labels_of, read_resource, uid_of
from tidegate.cli.output.displays import Display, display_for
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import show_one
from tidegate.cli.output.terminal import printable
from tidegate.errors import NotFound, ServerUnreachable

if TYPE_CHECKING:
    from tidegate.model.transfers.transfer import Transfer
    from tidegate.views.job import Job as JobView


# A job of many volumes changes all the time; more often than this nobody could read it.
_MANY = 20
_SECONDS_BETWEEN_PICTURES = 0.25
# Of jobs whose parts only the server adds up, each picture is one more look of its own.
_SECONDS_BETWEEN_LOOKS = 1.0


def job_view(noun: Job, wire: Wire, transfers: "Sequence[Transfer]") -> "JobView":
    """A backup, a restore or a verification as what is shown of it."""
    from tidegate.model.backups.backup import Backup
    from tidegate.model.restores.restore import Restore
    from tidegate.model.verification.verification import Verification
    from tidegate.views.job import backup_job, restore_job, verification_job

    if noun is SYSTEM_BACKUP:
        from tidegate.model.system.system import SystemBackup
        from tidegate.views.system.backup import system_backup_job

        return system_backup_job(read_resource((SystemBackup,), wire))
    if noun is SYSTEM_RESTORE:
        from tidegate.model.system.system_restore import SystemRestore
        from tidegate.views.system.restore import system_restore_job

        return system_restore_job(read_resource((SystemRestore,), wire))
    if noun is RESTORE:
        return restore_job(read_resource((Restore,), wire), transfers)
    if noun is VERIFY:
        return verification_job(read_resource((Verification,), wire), transfers)
    return backup_job(read_resource((Backup,), wire), transfers)


def transfers_of(client: Client, noun: Job, wire: Wire) -> list[Wire]:
    """The transfers that a backup or a restore started."""
    return [item for listing in _transfer_listings(client, noun, wire).values() for item in listing.items]


def _transfer_listings(client: Client, noun: Job, wire: Wire) -> dict[str, Listing]:
    selector = f"{noun.label}={uid_of(wire)}"
    return {plural: client.list(plural, selector=selector) for plural in noun.transfers}


class _Waited:
    """One job and its transfers, kept up to date by looks and by changes. Each is read once for each change of it."""

    def __init__(self, noun: Job, name: str, uid: str) -> None:
        self._noun = noun
        self._name = name
        self._uid = uid
        self._transfers: dict[str, Transfer] = {}
        self.wire: Wire = {}

    def look(self, client: Client) -> Versions:
        """Everything as it is. Raises NotFound if the job is gone, also when a namesake took its place."""
        versions = client.versions((*self._noun.plurals, *self._noun.parts))
        wire = client.get(self._noun, self._name)
        self._uid = self._uid or uid_of(wire)
        if uid_of(wire) != self._uid:
            raise self._gone()
        self.wire = wire
        listings = _transfer_listings(client, self._noun, wire)
        self._transfers = {uid_of(item): _read(item) for listing in listings.values() for item in listing.items}
        return {**versions, **{plural: listing.version for plural, listing in listings.items()}}

    def apply(self, event: ResourceEvent) -> bool:
        """Take in one change, if it is about this job; whether it is one of the job itself."""
        wire = event.resource
        if uid_of(wire) == self._uid:
            if event.deleted:
                raise self._gone()
            self.wire = wire
            return True
        if self._noun.label and labels_of(wire).get(self._noun.label) == self._uid:
            self._transfers[uid_of(wire)] = _read(wire)
        return False

    def look_at_whole(self, client: Client) -> None:
        """How far it is as a whole, where only the server can add that up: of the parts of its parts."""
        wire = client.get(self._noun, self._name)
        if uid_of(wire) == self._uid:
            self.wire = wire

    @property
    def volumes(self) -> int:
        """How many transfers are known."""
        return len(self._transfers)

    def view(self) -> "JobView":
        """What is shown of it."""
        return job_view(self._noun, self.wire, list(self._transfers.values()))

    def _gone(self) -> NotFound:
        return NotFound(f"The {self._noun.word} {self._name} was deleted while somebody waited for it.")


def _read(wire: Wire) -> "Transfer":
    from tidegate.model.transfers.transfer import TRANSFERS

    return read_resource(TRANSFERS, wire)


def wait_for_job(
    cli: CliContext,
    noun: Job,
    name: str,
    *,
    uid: str = "",
    timeout: timedelta | None,
    output: OutputFormat | None,
    codes: Mapping[str, ExitCode] = PHASE_EXIT_CODES,
) -> None:
    """Wait for the end, then tell it: in words, as data, and as the exit code that `codes` has for the last phase."""
    again = f"tidegate {noun.word} wait {name}"
    deadline = Deadline.after(
        cli.clock,
        timeout,
        sentence=f"The {noun.word} {name} did not end in time. It goes on.",
        hint=f"Go on waiting with: {again}",
    )
    waited = _Waited(noun, name, uid)
    try:
        with display_for(cli) as display:
            job = _until_final(cli, noun, waited, deadline, display)
    except KeyboardInterrupt:
        raise CommandFailure(
            f"Stopped waiting. The {noun.word} {name} goes on.",
            code="Interrupted",
            exit_code=ExitCode.INTERRUPTED,
            hint=f"Go on waiting with: {again}",
        ) from None
    _tell_end(cli, job, codes)
    show_one(cli, noun, waited.wire, output or OutputFormat.NAME)


def wait_for_each(
    cli: CliContext,
    noun: Job,
    jobs: Mapping[str, str],
    *,
    timeout: timedelta | None,
    output: OutputFormat | None,
    codes: Mapping[str, ExitCode] = PHASE_EXIT_CODES,
) -> None:
    """Wait for all, by name with their uids where known, within one span of time; one that is gone stops no other."""
    ends_at = None if timeout is None else cli.clock.monotonic() + timeout.total_seconds()
    for name, uid in jobs.items():
        left = None if ends_at is None else timedelta(seconds=max(ends_at - cli.clock.monotonic(), 0.0))
        try:
            wait_for_job(cli, noun, name, uid=uid, timeout=left, output=output, codes=codes)
        except NotFound as error:
            if len(jobs) == 1:
                raise
            cli.report(failure_of(error))


def _until_final(cli: CliContext, noun: Job, waited: _Waited, deadline: Deadline, display: Display) -> "JobView":
    shown_at = float("-inf")
    for item in follow(cli, (*noun.plurals, *noun.transfers, *noun.parts), waited.look, deadline=deadline):
        if item is Moment.LOST:
            display.note("The server is away; looking for it again.")
        of_job = not isinstance(item, ResourceEvent) or waited.apply(item)
        pause = _SECONDS_BETWEEN_LOOKS if noun.parts else _SECONDS_BETWEEN_PICTURES if waited.volumes > _MANY else 0.0
        if not of_job and cli.clock.monotonic() - shown_at < pause:
            continue  # the next change shows it too, or the next sign of life of a server where nothing changes
        shown_at = cli.clock.monotonic()
        if noun.parts and item is not Moment.LOST and not waited.view().final:
            with suppress(ServerUnreachable, NotFound), cli.connect() as client:  # the stream tells of both
                waited.look_at_whole(client)
        job = waited.view()
        if not job.final:
            display.show(job, cli.reader())
        else:
            # The last words of the transfers may come after those of the job: one more look has them all. The end is
            # known without it, so a server that goes away now changes nothing.
            with suppress(ServerUnreachable, NotFound), cli.connect() as client:
                waited.look(client)
            return waited.view()
    raise AssertionError("follow never ends")


def _tell_end(cli: CliContext, job: "JobView", codes: Mapping[str, ExitCode]) -> None:
    from tidegate.views.job import ending, failed_volumes

    cli.end_with(codes.get(job.phase, ExitCode.FAILED))
    cli.terminal.note(printable(ending(job, cli.reader())))
    for problem in dict.fromkeys((*job.problems, *failed_volumes(job))):
        cli.terminal.note(printable(f"  {problem}"))


def wait_until_gone(
    cli: CliContext, plural: str, remaining: dict[str, str], *, timeout: timedelta | None, word: str
) -> None:
    """Wait until none of these is there any more. `remaining` maps uids to names."""
    deadline = Deadline.after(
        cli.clock,
        timeout,
        sentence="Not everything was gone in time. The server goes on removing it.",
        hint=f"Look with: tidegate {word} get",
    )

    def look(client: Client) -> Versions:
        listing = client.list(plural)
        there = {uid_of(wire) for wire in listing.items}
        _tell_gone([remaining.pop(uid) for uid in set(remaining) - there])
        return {plural: listing.version}

    def _tell_gone(names: list[str]) -> None:
        for name in sorted(names):
            cli.terminal.note(f"{word} {name}: gone")

    for item in follow(cli, (plural,), look, deadline=deadline):
        if isinstance(item, ResourceEvent) and item.deleted and uid_of(item.resource) in remaining:
            _tell_gone([remaining.pop(uid_of(item.resource))])
        if not remaining:
            return
