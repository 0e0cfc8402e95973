"""Where the process `tidegate` begins, whichever of its processes it is to be."""

import sys


def main() -> None:
    """The entry point of the process."""
    if sys.argv[1:] == ["mover"]:
        # Straight to work: a mover is started for every transfer, and loading the command line takes longer than
        # finding out that a volume is unchanged.
        from tidegate.app.mover import run_mover

        sys.exit(run_mover())
    if sys.argv[1:] == ["mover-nursery"]:
        from tidegate.app.nursery import run_nursery

        sys.exit(run_nursery())
    if sys.argv[1:] == ["catalogue-sync"]:
        from tidegate.app.sync_process import run_sync_process

        sys.exit(run_sync_process())
    from tidegate.app.commands import build_commands

    build_commands()(prog_name="tidegate")
