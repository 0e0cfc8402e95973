"""How waiting looks: bars on a terminal, one line per change in a pipe. Both on stderr."""

from types import TracebackType
from typing import TYPE_CHECKING, Protocol, Self

from tidegate.cli.context import CliContext
from tidegate.cli.output.terminal import Terminal, printable

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

    from tidegate.model.backups.byte_progress import ByteProgress
    from tidegate.views.job import Job
    from tidegate.views.reader import Reader

# With more volumes than this, those that move are shown and the others counted: bars must fit on a screen.
_MOST_BARS = 12


class Display(Protocol):
    """Shows a job while somebody waits for it. Used as a context manager; leaves no trace of bars behind."""

    def show(self, job: "Job", reader: "Reader") -> None:
        """The job as it is now."""
        ...

    def note(self, text: str) -> None:
        """Something beside the job."""
        ...

    def __enter__(self) -> "Display": ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


def display_for(cli: CliContext) -> Display:
    """Bars where they can be drawn, else lines."""
    return LiveBars(cli.terminal) if cli.terminal.animates else Lines(cli.terminal)


class Lines:
    """One plain line per change that is worth one."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._last: object = None

    def show(self, job: "Job", reader: "Reader") -> None:
        """A line, unless it would say the same as the last one."""
        from tidegate.views.job import change_key, headline

        key = change_key(job)
        if key != self._last:
            self._last = key
            self._terminal.note(f"{job.word} {job.name}: {printable(headline(job, reader))}")

    def note(self, text: str) -> None:
        """A line."""
        self._terminal.note(text)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass


class LiveBars:
    """A headline, one bar per volume and one for all, drawn over themselves."""

    def __init__(self, terminal: Terminal) -> None:
        from rich.console import Console
        from rich.live import Live

        # rich reads NO_COLOR itself; what was said with --color weighs more.
        color = {"always": True, "never": False}.get(terminal.color)
        self._console = Console(stderr=True, no_color=None if color is None else not color)
        self._live = Live(console=self._console, refresh_per_second=4, transient=True)

    def show(self, job: "Job", reader: "Reader") -> None:
        """Draw it anew."""
        from rich.console import Group
        from rich.text import Text

        from tidegate.views.job import headline

        title = Text(f"{job.word} {job.name}: {printable(headline(job, reader))}", style="bold")
        self._live.update(Group(title, _bars(job, reader)))

    def note(self, text: str) -> None:
        """A line above the bars."""
        self._console.print(text, markup=False, highlight=False)

    def __enter__(self) -> Self:
        self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._live.stop()


def _bars(job: "Job", reader: "Reader") -> "Table":
    from rich.table import Table

    from tidegate.model.job_progress import transfer_progress
    from tidegate.views.job import volume_of

    table = Table.grid(padding=(0, 2))
    shown = [transfer for transfer in job.transfers if not transfer.status.phase.final]
    for transfer in shown[:_MOST_BARS]:
        progress = transfer_progress(transfer)
        table.add_row(*bar(volume_of(transfer), transfer.status.phase, progress, reader))
    if len(job.transfers) > 1:
        table.add_row(*bar("all volumes", "", job.progress, reader))
    return table


def bar(label: str, phase: str, progress: "ByteProgress", reader: "Reader") -> "list[RenderableType]":
    """One row: whose it is, how far, how fast."""
    from rich.progress_bar import ProgressBar
    from rich.text import Text

    from tidegate.views.progress import progress_text, speed_text

    words = [progress.stage or phase, progress_text(progress, reader), speed_text(progress, reader)]
    return [
        Text(printable(label)),
        ProgressBar(total=progress.total or 1, completed=progress.done if progress.total else 0, width=30),
        Text(printable(", ".join(word for word in words if word))),
    ]
