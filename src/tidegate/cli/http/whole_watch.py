"""Following a picture that is made of many resources: after each change of one of them, the whole of it again."""

from collections.abc import Callable
from contextlib import closing, suppress

from tidegate.cli.context import CliContext
from tidegate.cli.http.client import Client
from tidegate.cli.http.following import Deadline, Moment, follow
from tidegate.cli.http.wire import Wire
from tidegate.errors import ServerUnreachable


def watch_whole(
    cli: CliContext, plurals: tuple[str, ...], picture: Callable[[Client], Wire], show: Callable[[Wire], None]
) -> None:
    """Show the picture now and whenever it is another one, until somebody interrupts."""
    shown: Wire | None = None

    forever = Deadline.after(cli.clock, None, sentence="", hint="")
    # Closed, so that the stream ends with us also when the picture itself cannot be read.
    with closing(follow(cli, plurals, lambda client: client.versions(plurals), deadline=forever)) as changes:
        for item in changes:
            if item is Moment.LOST:
                cli.terminal.note("The server is away; looking for it again.")
            elif item is not Moment.QUIET:
                with suppress(ServerUnreachable), cli.connect() as client:
                    found = picture(client)
                    if found != shown:
                        show(found)
                        shown = found
