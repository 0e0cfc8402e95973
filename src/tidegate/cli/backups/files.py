"""`backup browse` and `backup download`: the files in a backup, as the server sees them, without restoring anything."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from tidegate.cli import options
from tidegate.cli.context import context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.client import Client
from tidegate.cli.http.nouns import BACKUP
from tidegate.cli.http.wire import Wire, read_model
from tidegate.cli.options import epilog
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import show_table
from tidegate.cli.output.terminal import ReaderGone, printable
from tidegate.cli.stores.store_data import show_document

_PAGE = 1000

Name = Annotated[str, options.name_of(BACKUP)]
VolumeOption = Annotated[
    str,
    typer.Option("--volume", metavar="NAMESPACE/NAME", help="Which volume; may be left out where there is one tree."),
]


def browse(
    ctx: typer.Context,
    *,
    name: Name,
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="A directory in the backup; empty: its root.")] = "",
    volume: VolumeOption = "",
    output: options.Output = None,
) -> None:
    """List a directory of a backed-up file tree."""
    from tidegate.model.backups.file_listing import ListedFile
    from tidegate.views.backups.file_listing import FILES

    cli = context_of(ctx)
    with cli.connect() as client:
        found = list(_files(client, name, _query(path, volume)))
    if output in {None, OutputFormat.TABLE, OutputFormat.WIDE}:
        rows = [read_model(ListedFile, one, "file") for one in found]
        show_table(cli, FILES, rows, wide=output is OutputFormat.WIDE)
        return
    if output is OutputFormat.JSON:
        show_document(cli, {"kind": "Files", "items": found}, output)
        return
    for one in found:
        if not show_document(cli, one, output):
            cli.terminal.out(printable(str(one["path"])))


def download(
    ctx: typer.Context,
    *,
    name: Name,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A file in the backup.")],
    to: Annotated[
        str, typer.Option("--to", metavar="FILE", help="Where to; - is standard output; empty: its name, here.")
    ] = "",
    volume: VolumeOption = "",
) -> None:
    """Fetch one file of a backed-up file tree. A file that is there already is not overwritten."""
    cli = context_of(ctx)
    last = path.rstrip("/").rpartition("/")[2]
    if not last:
        raise wrong_usage("Which file?", hint=f"See what there is: tidegate backup browse {name}")
    with cli.connect() as client, client.download(_address(name, "content", _query(path, volume))) as pieces:
        if to == "-":
            _write_out(pieces)
            return
        place = cli.environment.absolute(to or last)
        _write_new(Path(place), pieces)
    cli.terminal.note(printable(f"Wrote {place}."))


def _files(client: Client, name: str, query: str) -> Iterator[Wire]:
    marker = ""
    while True:
        more = f"&marker={quote(marker, safe='')}" if marker else ""
        page = client.look(_address(name, "files", f"{query}&limit={_PAGE}{more}"))
        yield from page.get("data", [])
        marker = (page.get("pagination") or {}).get("next") or ""
        if not marker:
            return


def _address(name: str, what: str, query: str) -> str:
    return f"backups/{quote(name, safe='')}/{what}?{query}"


def _query(path: str, volume: str) -> str:
    """Every byte of the path as the shell gave it: a name need not be text."""
    return f"path={quote(os.fsencode(path))}&volume={quote(volume, safe='')}"


def _write_out(pieces: Iterator[bytes]) -> None:
    try:
        for piece in pieces:
            sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        raise ReaderGone from None


def _write_new(place: Path, pieces: Iterator[bytes]) -> None:
    """All of it or nothing: half a file under its own name would look like the whole."""
    try:
        with place.open("xb") as file:
            try:
                for piece in pieces:
                    file.write(piece)
            except BaseException:
                place.unlink()
                raise
    except FileExistsError:
        raise wrong_usage(f"{place} is there already.", hint="Give another place with --to.") from None
    except OSError as error:
        raise wrong_usage(f"Cannot write {place}: {error.strerror}.", hint="Give another place with --to.") from None


def add_file_verbs(app: typer.Typer) -> None:
    """Attach them."""
    codes = (ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.REJECTED)
    app.command(
        "browse",
        epilog=epilog(
            "tidegate backup browse nightly", "tidegate backup browse nightly etc --volume shop/files", codes=codes
        ),
    )(browse)
    app.command(
        "download",
        epilog=epilog(
            "tidegate backup download nightly etc/hosts --volume shop/files",
            "tidegate backup download nightly etc/hosts --to - | less",
            codes=codes,
        ),
    )(download)
