"""`tidegate system`: everything the system itself needs to come back."""

import typer

from tidegate.cli.system import backup as system_backup
from tidegate.cli.system import restore as system_restore

app = typer.Typer(no_args_is_help=True, help="The system itself: its backups, and the way back.")
app.add_typer(system_backup.app, name="backup")
app.add_typer(system_restore.app, name="restore")
