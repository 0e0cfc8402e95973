"""`tidegate store gc|delete|repair-index|unlock`: keeping a store in order."""

from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import CommandFailure, wrong_usage
from tidegate.cli.options import epilog
from tidegate.cli.output.terminal import printable
from tidegate.cli.stores.store_access import Place, backup_place, place_of, volume_place
from tidegate.cli.stores.store_data import show_document
from tidegate.cli.stores.store_running import carry, run_work

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable

    from tidegate.datapath.maintenance.gc import Collected
    from tidegate.datapath.maintenance.repair import Repair
    from tidegate.model.transfers.mover_job import ProgressReport

StoreUrl = Annotated[str, typer.Argument(metavar="URL", help="The store: a URL, or the path of a directory.")]
VolumeName = Annotated[str, typer.Option("--volume", metavar="NAME", help="The volume in the store.")]


def gc(
    ctx: typer.Context,
    *,
    url: StoreUrl,
    volume: VolumeName = "",
    dry_run: options.DryRun = False,
    output: options.Output = None,
) -> None:
    """Remove blocks that no backup names, of one volume or of all. Removes nothing where anything is in doubt."""
    cli = context_of(ctx)
    place = volume_place(cli, url, volume) if volume else place_of(cli, url)
    for name in _names(place):
        found = _collect(cli, Place(cli, place.target, name), dry_run=dry_run)
        for warning in found.warnings:
            cli.terminal.note(printable(f"Warning: volume {name}: {warning}"))
        document = {
            "volume": name,
            "blocks": found.blocks,
            "bytes": found.bytes,
            "dryRun": dry_run,
            "warnings": list(found.warnings),
        }
        if not show_document(cli, document, output):
            verb = "would be removed" if dry_run else "removed"
            cli.terminal.out(f"{name}: {found.blocks} blocks ({cli.reader().size(found.bytes)}) {verb}")


def delete(
    ctx: typer.Context,
    *,
    urls: Annotated[list[str], typer.Argument(metavar="BACKUP_URL...", help="STORE?backup=NAME&volume=NAME.")],
    yes: options.Yes = False,
) -> None:
    """Delete backups, and the blocks that only they needed. Asks first."""
    from tidegate.model.transfers.mover_job import RemoveJob

    cli = context_of(ctx)
    named = [backup_place(cli, url) for url in urls]
    places = list({(place.target, place.volume, place.backup): place for place in named}.values())
    for place in places:
        _check_there(place)
    count = "this backup" if len(places) == 1 else f"these {len(places)} backups"
    _ask(cli, f"Delete {count} ({', '.join(place.backup for place in places)})?", yes=yes)
    for (target, volume), names in _by_volume(places).items():
        place = Place(cli, target, volume)
        job = RemoveJob(target=place.access, store_volume=volume, store_backups=tuple(names))
        for warning in carry(cli, f"Deleting from {volume}", job).warnings:
            cli.terminal.note(printable(f"Warning: {warning}"))
        for name in names:
            cli.terminal.out(f"{volume}/{name}")


def repair_index(
    ctx: typer.Context,
    *,
    url: StoreUrl,
    volume: VolumeName = "",
    size: Annotated[
        int | None, typer.Option(metavar="BYTES", help="Size of the volume, if its backups do not tell it.")
    ] = None,
    dry_run: options.DryRun = False,
) -> None:
    """Write a volume's record (volume.cfg) anew from its backups, if it is lost, damaged or wrong."""
    from tidegate.datapath.maintenance.repair import plan_repair

    cli = context_of(ctx)
    place = volume_place(cli, url, volume)

    def work(_show: "Callable[[ProgressReport], None]", cancelled: "threading.Event") -> "Repair":
        with _deletion_lock(place, cancelled) as lock:
            repair = plan_repair(place.stored(), size=size)
            lock.confirm()
            if repair.why:
                place.stored().save_volume_cfg(repair.after)
            return repair

    repair = plan_repair(place.stored(), size=size)
    if repair.why and not dry_run:
        repair = run_work(cli, f"Repairing {place.volume}", work)
    for sentence in repair.why:
        cli.terminal.out(printable(sentence))
    end = "Nothing is wrong." if not repair.why else "Nothing was changed." if dry_run else "Repaired."
    cli.terminal.note(end)


def unlock(
    ctx: typer.Context,
    *,
    url: StoreUrl,
    volume: VolumeName = "",
    force: Annotated[bool, typer.Option("--force", help="Remove all locks, also of clients that still work.")] = False,
    output: options.Output = None,
) -> None:
    """List the locks of a volume, and remove those whose owners have been silent for more than 150 seconds."""
    from tidegate.datapath.maintenance.unlock import locks_of, remove_lock

    cli = context_of(ctx)
    place = volume_place(cli, url, volume)
    locks = locks_of(place.objects, place.volume, place.shop)
    if not locks:
        place.stored().check_there()
        cli.terminal.note("There are no locks.")
    for lock in locks:
        removed = force or lock.expired
        if removed:
            remove_lock(place.objects, place.volume, lock)
        seconds = int(lock.age.total_seconds())
        document = {
            "name": lock.name,
            "work": lock.work,
            "acquired": lock.acquired,
            "ageSeconds": seconds,
            "expired": lock.expired,
            "removed": removed,
        }
        if not show_document(cli, document, output):
            state = "expired" if lock.expired else "alive"
            cli.terminal.out(f"{lock.name}  {lock.work}  {seconds}s  {state}  {'removed' if removed else 'kept'}")


def add_care_verbs(app: typer.Typer) -> None:
    """Attach them."""
    codes = (ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.LOCKED, ExitCode.INTERRUPTED)
    one = "'/mnt/backups?backup=backup-1&volume=shop'"
    app.command("gc", epilog=epilog("tidegate store gc /mnt/backups --dry-run", codes=codes))(gc)
    app.command("delete", epilog=epilog(f"tidegate store delete {one} --yes", codes=codes))(delete)
    app.command(
        "repair-index",
        epilog=epilog("tidegate store repair-index /mnt/backups --volume shop --dry-run", codes=codes),
    )(repair_index)
    app.command("unlock", epilog=epilog("tidegate store unlock /mnt/backups --volume shop", codes=codes))(unlock)


def _names(place: Place) -> list[str]:
    """The volume that was named, which must be there; else all that the store has."""
    from tidegate.datapath.inspection.listing import working_names
    from tidegate.datapath.stored_volume import StoredVolume

    if place.volume:
        place.stored().check_there()
        return [place.volume]
    return [name for name in working_names(place.objects) if StoredVolume(place.objects, name).is_there()]


def _collect(cli: CliContext, place: Place, *, dry_run: bool) -> "Collected":
    from tidegate.datapath.leftovers import old_beginnings
    from tidegate.datapath.maintenance.gc import collect_garbage
    from tidegate.datapath.progress import Progress

    def work(show: "Callable[[ProgressReport], None]", cancelled: "threading.Event") -> "Collected":
        progress = Progress(show, cli.clock)
        looked = collect_garbage(place.stored(), progress=progress)
        if dry_run or not (looked.blocks or old_beginnings(place.stored(), looked.begun, now=cli.clock.now())):
            return looked
        with _deletion_lock(place, cancelled) as lock:
            return collect_garbage(place.stored(), progress=progress, lock=lock)

    return run_work(cli, f"Cleaning up {place.volume}", work)


class _deletion_lock:  # noqa: N801  used like a function
    """The volume's lock while inside, with what to call before each step that cannot be undone."""

    def __init__(self, place: Place, cancelled: "threading.Event") -> None:
        from tidegate.datapath.locks import VolumeLock
        from tidegate.format.cfgs.lock_file import LockType

        self._cancelled = cancelled
        self._lock = VolumeLock(
            place.objects,
            place.volume,
            LockType.DELETION,
            shop=place.shop,
            cancelled=cancelled,
            on_wait=lambda reason: place.cli.terminal.note(printable(f"Waiting: {reason}")),
        )

    def __enter__(self) -> "_deletion_lock":
        self._lock.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.__exit__(*error)

    def check(self) -> None:
        """Raise if the work was cancelled or the lock may be lost."""
        from tidegate.errors import WorkCancelled

        if self._cancelled.is_set():
            raise WorkCancelled("the work was cancelled")
        self._lock.check()

    def confirm(self) -> None:
        """The same, and ask the store itself."""
        self.check()
        self._lock.confirm()


def _check_there(place: Place) -> None:
    """A name that is not there is a typing error, and must not look like a success. What is damaged is there."""
    from tidegate.errors import NotFound
    from tidegate.format.cfgs.paths import backup_cfg_key

    try:
        place.objects.head(backup_cfg_key(place.volume, place.backup))
    except NotFound as error:
        raise NotFound(f"cannot find backup {place.backup} of volume {place.volume} in the store") from error


def _by_volume(places: list[Place]) -> dict[tuple[str, str], list[str]]:
    grouped: dict[tuple[str, str], list[str]] = {}
    for place in places:
        grouped.setdefault((place.target, place.volume), []).append(place.backup)
    return grouped


def _ask(cli: CliContext, question: str, *, yes: bool) -> None:
    if yes:
        return
    if not cli.terminal.asks:
        raise wrong_usage(f"Nobody is here to answer: {question}", hint="Say so with --yes.")
    if not typer.confirm(question, err=True):
        raise CommandFailure("Nothing was deleted.", code="Declined", exit_code=ExitCode.FAILED)
