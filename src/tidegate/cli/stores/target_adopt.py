"""`tidegate target adopt`: accept the store that is there now in place of the one that the target had."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.http.nouns import TARGET
from tidegate.cli.http.wire import read_resource
from tidegate.cli.output.asking import ask_whether_to
from tidegate.cli.output.terminal import printable
from tidegate.errors import Refused

if TYPE_CHECKING:
    from tidegate.model.stores.target import BackupTarget

NOTHING = "nothing that has an identity"


def adopt(
    ctx: typer.Context,
    *,
    name: Annotated[str, options.name_of(TARGET)],
    yes: options.Yes = False,
) -> None:
    """Accept the store that is there now, another one or an emptied one. Shows first which was expected. Asks first."""
    from tidegate.model.stores.target import BackupTarget

    cli = context_of(ctx)
    with cli.connect() as client:
        target = read_resource((BackupTarget,), client.get(TARGET, name))
        mark = target.status.store.adopt
        if not mark:
            raise Refused(_nothing_to_adopt(target))
        for line in _what_is_there(target):
            cli.terminal.note(printable(line))
        if not yes:
            ask_whether_to(cli, "adopt what is there as the store of", TARGET, [name], done="changed")
        client.act(TARGET, name, "backupTargetAdopt", {"mark": mark})
    cli.terminal.note(printable(f"Target {name} takes the store that is there, and its catalogue follows it."))
    cli.terminal.out(f"{TARGET.word}/{name}")


def _nothing_to_adopt(target: "BackupTarget") -> str:
    if target.status.available is False:
        return f"target {target.name} does not answer, so nobody knows which store is there: {target.status.message}"
    return f"target {target.name} leads to its own store; there is nothing to adopt"


def _what_is_there(target: "BackupTarget") -> tuple[str, ...]:
    store = target.status.store
    return (
        f"URL:      {target.spec.url}",
        f"Expected: {store.identity or 'the volumes that the catalogue knows'}",
        f"Found:    {store.found or NOTHING}",
        "If a share is only not mounted, mount it instead: the catalogue forgets what is not there.",
    )
