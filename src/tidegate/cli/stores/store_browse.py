"""`tidegate store ls|find|cat|diff`: looking into stores and backups without restoring anything."""

import contextlib
import stat
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import wrong_usage
from tidegate.cli.options import epilog
from tidegate.cli.output.terminal import ReaderGone, printable
from tidegate.cli.stores.store_access import Place, backup_place, place_of
from tidegate.cli.stores.store_data import show_document

if TYPE_CHECKING:
    from tidegate.format.trees.entry import TreeEntry

Long = Annotated[bool, typer.Option("-l", "--long", help="Modes, owners, sizes and times too.")]
_LETTERS = {"file": "-", "directory": "d", "symlink": "l", "hardlink": "h", "fifo": "p"}


def ls(
    ctx: typer.Context,
    *,
    url: Annotated[str, typer.Argument(metavar="URL", help="A store, a volume in it, or a backup.")],
    path: Annotated[str, typer.Argument(metavar="[PATH]", help="In a backup: the directory.")] = "",
    long: Long = False,
    recursive: Annotated[bool, typer.Option("-R", "--recursive", help="Everything below.")] = False,
    output: options.Output = None,
) -> None:
    """List the volumes of a store, the backups of a volume, or the files in a backup."""
    cli = context_of(ctx)
    place = place_of(cli, url)
    if not place.backup:
        _list_names(cli, place, output)
        return
    from tidegate.datapath.inspection.browse import open_tree

    with open_tree(place.stored(), place.backup) as tree:
        for entry in tree.below(path, recursive=recursive):
            _show_entry(cli, entry, long=long, output=output)


def find(
    ctx: typer.Context,
    *,
    url: options.BackupUrl,
    globs: Annotated[list[str], typer.Argument(metavar="GLOB...", help="Such as '*.txt' or 'etc/**'.")],
    long: Long = False,
    output: options.Output = None,
) -> None:
    """Find paths in a backup. Exits with 5 if there is none."""
    from tidegate.datapath.inspection.browse import open_tree
    from tidegate.format.trees.globs import TreeGlobs

    cli = context_of(ctx)
    place = backup_place(cli, url)
    wanted = TreeGlobs(globs)
    cli.exit_code = ExitCode.NOT_FOUND
    with open_tree(place.stored(), place.backup) as tree:
        for entry in tree.entries():
            if wanted.match(entry.path):
                cli.exit_code = ExitCode.DONE
                _show_entry(cli, entry, long=long, output=output)


def cat(
    ctx: typer.Context, url: options.BackupUrl, path: Annotated[str, typer.Argument(metavar="PATH", help="A file.")]
) -> None:
    """Write one file of a backup to stdout."""
    from tidegate.datapath.inspection.browse import open_tree

    place = backup_place(context_of(ctx), url)
    with open_tree(place.stored(), place.backup) as tree:
        try:
            for piece in tree.content(path):
                sys.stdout.buffer.write(piece)
            sys.stdout.buffer.flush()
        except BrokenPipeError:
            raise ReaderGone from None


def diff(
    ctx: typer.Context,
    *,
    earlier: options.BackupUrl,
    later: Annotated[str, typer.Argument(metavar="LATER", help="A URL, or the name of a backup of the same volume.")],
    output: options.Output = None,
) -> None:
    """Tell what changed from one backup to another: + new, - gone, M changed."""
    from tidegate.datapath.inspection.browse import image_changes, open_tree, tree_changes
    from tidegate.format.trees.packed_tree import CONTENT, TREE

    cli = context_of(ctx)
    one = backup_place(cli, earlier)
    two = backup_place(cli, later) if "=" in later else Place(cli, one.target, one.volume, later)
    with contextlib.ExitStack() as stack:
        if one.stored().backup_cfg(one.backup).parameters.get(CONTENT) == TREE:
            before = stack.enter_context(open_tree(one.stored(), one.backup))
            changes = tree_changes(before, stack.enter_context(open_tree(two.stored(), two.backup)))
        elif (one.target, one.volume) == (two.target, two.volume):
            changes = image_changes(one.stored(), one.backup, two.backup)
        else:
            raise wrong_usage("Two images can be compared only if they are backups of the same volume.")
        for change in changes:
            document = {"change": change.sign, "path": change.path, "what": change.what}
            if not show_document(cli, document, output):
                cli.terminal.out(printable(f"{change.sign} {change.path}" + (f"  ({change.what})" * bool(change.what))))


def add_browsing_verbs(app: typer.Typer) -> None:
    """Attach them."""
    codes = (ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.REJECTED)
    one = "'/mnt/backups?backup=backup-1&volume=shop'"
    app.command(
        "ls",
        epilog=epilog("tidegate store ls /mnt/backups", f"tidegate store ls {one} etc -l", codes=codes),
    )(ls)
    app.command("find", epilog=epilog(f"tidegate store find {one} '*.conf'", codes=codes))(find)
    app.command("cat", epilog=epilog(f"tidegate store cat {one} etc/hosts", codes=codes))(cat)
    app.command("diff", epilog=epilog(f"tidegate store diff {one} backup-2", codes=codes))(diff)


def _list_names(cli: CliContext, place: Place, output: options.Output) -> None:
    from tidegate.datapath.inspection.listing import working_names

    if place.volume:
        # Not by its record: backups are there, and can be restored, also when that is lost.
        word, entries = "backup", sorted(place.stored().backup_names())
        if not entries:
            place.stored().check_there()
    else:
        word, entries = "volume", working_names(place.objects)
    for name in entries:
        if not show_document(cli, {word: name}, output):
            cli.terminal.out(name)
    if not entries:
        cli.terminal.note(f"No {word}s found.")


def _show_entry(cli: CliContext, entry: "TreeEntry", *, long: bool, output: options.Output) -> None:
    from tidegate.format.cfgs.times import moment_of

    moment = moment_of(entry.mtime_ns)
    document = {
        "path": entry.path,
        "type": str(entry.type),
        "mode": f"{entry.mode:04o}",
        "uid": entry.uid,
        "gid": entry.gid,
        "size": entry.size,
        "modified": moment.isoformat(),
        "target": entry.target,
    }
    if show_document(cli, document, output):
        return
    arrow = f" -> {entry.target}" if entry.target else ""
    if long:
        rights = _LETTERS[entry.type] + stat.filemode(entry.mode)[1:]
        words = f"{rights} {entry.uid}:{entry.gid} {entry.size:>12} {moment:%Y-%m-%d %H:%M:%S} "
        cli.terminal.out(printable(f"{words}{entry.path}{arrow}"))
    else:
        cli.terminal.out(printable(entry.path))
