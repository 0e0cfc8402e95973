"""Where the process `tidegate` begins, whichever of its processes it is to be."""

import sys
from collections.abc import Callable
from datetime import datetime

from tidegate.app.machine.clock import LAST_DAY, SystemClock
from tidegate.app.machine.collector import loading

_REJECTED = 4  # ExitCode.REJECTED, which cannot be loaded at such a time


def main(now: Callable[[], datetime] | None = None) -> None:
    """The entry point of the process."""
    if (now or SystemClock().now)() >= LAST_DAY:
        # Nothing else has been loaded: Python's own library fails to load with such a clock.
        sys.stderr.write(
            f"Error: the clock of this machine says that it is {LAST_DAY:%Y-%m-%d} or later, too late for Python\n"
            "Hint: set the clock\n"
        )
        sys.exit(_REJECTED)
    with loading():
        run = _load(sys.argv[1:])
    sys.exit(run())


def _load(words: list[str]) -> Callable[[], int | None]:
    """What these words ask for, with all that it needs to begin, and nothing that only others need.

    A mover may be started for every transfer, and loading the command line takes longer than finding out that a volume
    is unchanged.
    """
    if words == ["mover"]:
        from tidegate.app.processes.mover import run_mover

        return run_mover
    if words == ["mover-nursery"]:
        from tidegate.app.processes.nursery import run_nursery

        return run_nursery
    if words == ["catalogue-sync"]:
        from tidegate.app.processes.sync_process import run_sync_process

        return run_sync_process
    from tidegate.app.commands import build_commands

    commands = build_commands(words)
    return lambda: commands(prog_name="tidegate")
