"""Work on a store in this process: in a thread, with its progress on stderr, and an orderly end on Ctrl-C."""

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from types import FrameType
from typing import TYPE_CHECKING, Protocol, TypeVar

from tidegate.cli.context import CliContext
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import CommandFailure
from tidegate.cli.output.terminal import Terminal, printable

if TYPE_CHECKING:
    from tidegate.model.backups.byte_progress import ByteProgress
    from tidegate.model.transfers.mover_job import ProgressReport
    from tidegate.model.transfers.transfer_progress import TransferResult
    from tidegate.ports.mover_host import Job, Report
    from tidegate.views.reader import Reader

T = TypeVar("T")
Work = Callable[[Callable[["ProgressReport"], None], threading.Event], T]
_STEPS = 10


class _Show(Protocol):
    def __call__(self, progress: "ByteProgress", reader: "Reader") -> None: ...


def carry(cli: CliContext, title: str, job: "Job") -> "TransferResult":
    """Carry out what a mover would, here. Raises the error that it ends with."""
    from tidegate.datapath.work import carry_out
    from tidegate.errors import error_classes
    from tidegate.model.transfers.mover_job import ErrorReport, ProgressReport, ResultReport

    last: list[Report] = []

    def work(show: Callable[[ProgressReport], None], cancelled: threading.Event) -> "TransferResult":
        def hear(report: "Report") -> None:
            if isinstance(report, ProgressReport):
                show(report)
            else:
                last.append(report)

        carry_out(job, cli.workshop(), report=hear, cancelled=cancelled)
        match last[-1]:
            case ResultReport(result=result):
                return result
            case ErrorReport(code=code, message=message, hint=hint) if code in error_classes():
                raise error_classes()[code](message, hint=hint)
            case report:
                raise RuntimeError(getattr(report, "message", "it ended without a word"))

    return run_work(cli, title, work)


def run_work(cli: CliContext, title: str, work: Work[T]) -> T:
    """Do it in a thread. Ctrl-C lets it stop and clean up behind itself; a second one does not wait for that."""
    from tidegate.errors import WorkCancelled

    outcome: Future[T] = Future()
    cancelled = threading.Event()

    def stop() -> None:
        cli.terminal.note("Stopping, and leaving the store clean.")
        cancelled.set()

    with _display(cli, title) as show, _first_signal(stop):
        # The handlers stand before the work begins: from its first progress line on, a signal is an orderly stop.
        threading.Thread(target=_fulfil, args=(outcome, work, _shown(cli, show), cancelled), daemon=True).start()
        try:
            return outcome.result()  # also when it was done before it heard of the signal
        except WorkCancelled:
            raise CommandFailure(
                "Stopped; nothing was left behind.", code="Interrupted", exit_code=ExitCode.INTERRUPTED
            ) from None


def _fulfil(
    outcome: "Future[T]", work: Work[T], show: Callable[["ProgressReport"], None], cancelled: threading.Event
) -> None:
    try:
        outcome.set_result(work(show, cancelled))
    except BaseException as error:  # noqa: BLE001  raised again in the thread that waits
        outcome.set_exception(error)


def _shown(cli: CliContext, show: _Show) -> Callable[["ProgressReport"], None]:
    from tidegate.model.backups.byte_progress import ByteProgress

    def tell(report: "ProgressReport") -> None:
        now = report.progress
        show(ByteProgress(now.bytes_done, now.total_bytes, now.bytes_per_second, now.stage), cli.reader())

    return tell


@contextlib.contextmanager
def _first_signal(stop: Callable[[], None]) -> Iterator[None]:
    """The first SIGINT or SIGTERM calls `stop`; a second one has the effect that it had before."""
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread may set handlers
        return
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def handle(_number: int, _frame: FrameType | None) -> None:
        restore()
        stop()

    for number in before:
        signal.signal(number, handle)
    try:
        yield
    finally:
        restore()


@contextlib.contextmanager
def _display(cli: CliContext, title: str) -> Iterator[_Show]:
    if not cli.terminal.animates:
        yield _Lines(cli.terminal, title)
        return
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table

    from tidegate.cli.output.displays import bar

    with Live(console=Console(stderr=True), refresh_per_second=4, transient=True) as live:

        def draw(progress: "ByteProgress", reader: "Reader") -> None:
            table = Table.grid(padding=(0, 2))
            table.add_row(*bar(title, "", progress, reader))
            live.update(table)

        yield draw


class _Lines:
    """A plain line for each stage and for each tenth of it."""

    def __init__(self, terminal: Terminal, title: str) -> None:
        self._terminal = terminal
        self._title = title
        self._last: tuple[str, int] | None = None

    def __call__(self, progress: "ByteProgress", reader: "Reader") -> None:
        from tidegate.views.progress import progress_text, speed_text

        now = (progress.stage, (progress.percent or 0) // _STEPS)
        if now == self._last:
            return
        self._last = now
        words = [progress.stage, progress_text(progress, reader), speed_text(progress, reader)]
        self._terminal.note(printable(f"{self._title}: {', '.join(word for word in words if word)}"))
