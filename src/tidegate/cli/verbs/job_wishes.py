"""How a job is asked for: the options of every verb that creates one, and what they mean."""

from collections.abc import Callable
from dataclasses import dataclass

from tidegate.cli import options
from tidegate.cli.context import CliContext
from tidegate.cli.http.nouns import Job
from tidegate.cli.http.wire import Wire, uid_of
from tidegate.cli.options import read_labels, read_timeout
from tidegate.cli.verbs.creating import Creation, create, send
from tidegate.cli.verbs.waiting import wait_for_job


@dataclass(frozen=True)
class JobWishes:
    """With --wait the end is waited for, and told by the exit code; with --dry-run nothing is changed."""

    labels: options.Labels = None
    dry_run: options.DryRun = False
    wait: options.Wait = False
    timeout: options.Timeout = ""
    output: options.Output = None

    @property
    def given_labels(self) -> dict[str, str]:
        """Those for the new object."""
        return read_labels(self.labels)

    def creation(self, resource: Wire) -> Creation:
        """The object to be, and how to answer."""
        return Creation(resource, self.output, self.dry_run)

    def ask_for(
        self, cli: CliContext, noun: Job, resource: Wire, *, sentence: Callable[[Wire], str] = lambda _wire: ""
    ) -> None:
        """Create it, and wait for its end if that is wished. `sentence` says more about one that is not waited for."""
        limit = read_timeout(self.timeout)
        if not self.wait or self.dry_run:
            create(cli, noun, self.creation(resource), sentence=sentence)
            return
        wire = send(cli, noun, self.creation(resource))
        wait_for_job(cli, noun, resource["metadata"]["name"], uid=uid_of(wire), timeout=limit, output=self.output)
