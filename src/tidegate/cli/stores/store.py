"""`tidegate store`: work with a backup store directly, without a server."""

import typer

from tidegate.cli.stores.store_browse import add_browsing_verbs
from tidegate.cli.stores.store_care import add_care_verbs
from tidegate.cli.stores.store_data import add_data_verbs
from tidegate.cli.stores.store_verify import add_verify

app = typer.Typer(no_args_is_help=True, help="Stores: back up, restore, look and repair without a server.")
add_data_verbs(app)
add_browsing_verbs(app)
add_verify(app)
add_care_verbs(app)
