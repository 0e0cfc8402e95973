"""`tidegate store backup` and `tidegate store restore`: one volume and one store, without a server."""

import stat
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from tidegate.cli import options
from tidegate.cli.context import CliContext, context_of
from tidegate.cli.exit_codes import ExitCode
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.wire import Wire
from tidegate.cli.options import epilog, read_labels
from tidegate.cli.output.formats import OutputFormat
from tidegate.cli.output.resources import compact_json, pretty_json, yaml_text
from tidegate.cli.output.terminal import printable
from tidegate.cli.stores.store_access import Place, backup_place, volume_place
from tidegate.cli.stores.store_running import carry

if TYPE_CHECKING:
    from tidegate.model.transfers.transfer_progress import TransferResult
    from tidegate.model.volumes.volume_ref import LocalVolume

LimitUpload = Annotated[
    str, typer.Option(metavar="RATE", help="Send at most so many bytes per second: 10MiB, 500K; 0: no limit.")
]
LimitDownload = Annotated[
    str, typer.Option(metavar="RATE", help="Fetch at most so many bytes per second: 10MiB, 500K; 0: no limit.")
]
_CODES = (ExitCode.REJECTED, ExitCode.NOT_FOUND, ExitCode.CONFLICT, ExitCode.LOCKED, ExitCode.INTERRUPTED)


def backup(
    ctx: typer.Context,
    *,
    path: Annotated[str, typer.Argument(metavar="PATH", help="A directory, an image file or a block device.")],
    to: Annotated[str, typer.Option("--to", metavar="URL", help="The store: a URL, or the path of a directory.")],
    volume: Annotated[str, typer.Option("--volume", metavar="NAME", help="What the volume is called in the store.")],
    name: Annotated[str, typer.Option("--name", metavar="BACKUP", help="Name of the backup; empty: a new one.")] = "",
    mode: Annotated[str, typer.Option(metavar="incremental|full", help="full sends everything again.")] = "incremental",
    compression: Annotated[
        str, typer.Option(metavar="lz4|gzip|none", help="For a volume that is new to the store; empty: lz4.")
    ] = "",
    block_size: Annotated[
        int, typer.Option(metavar="2|16", help="MiB per block, for a volume that is new to the store; 0: 2.")
    ] = 0,
    exclude: Annotated[
        list[str] | None, typer.Option(metavar="GLOB", help="Leave these paths of a directory out; repeated.")
    ] = None,
    label: Annotated[list[str] | None, typer.Option(metavar="KEY=VALUE", help="Labels; commas or repeated.")] = None,
    snapshot: Annotated[
        str, typer.Option(metavar="auto|required|never", help="Whether an image is read from a snapshot of it.")
    ] = "auto",
    limit_upload: LimitUpload = "0",
    limit_download: LimitDownload = "0",
    output: options.Output = None,
) -> None:
    """Back a directory, an image or a device up into a store. Prints the URL of the backup."""
    from tidegate.format.blocks.checksum import checksum
    from tidegate.format.cfgs.paths import check_name
    from tidegate.model.transfers.mover_job import BackupMode, CompressionChoice, SnapshotWish, UploadJob
    from tidegate.model.volumes.volume_ref import volume_fields

    cli = context_of(ctx)
    place = volume_place(cli, to, volume)
    if block_size not in {0, 2, 16}:
        raise wrong_usage(f"--block-size {block_size}: blocks have 2 or 16 MiB.")
    shop = place.shop
    backup_name = check_name(name or f"backup-{checksum(shop.new_id().encode())[:16]}", what="backup")
    source = cli.environment.absolute(path)
    job = UploadJob(
        target=place.access,
        store_volume=place.volume,
        store_backup=backup_name,
        **volume_fields(_volume_at(source)),
        labels=read_labels(label),
        snapshot_name=f"snapshot-of-{backup_name}",
        started_at=shop.clock.now(),
        mode=BackupMode(_one_of("--mode", mode, [str(one) for one in BackupMode])),
        compression=CompressionChoice(_one_of("--compression", compression, [str(one) for one in CompressionChoice]))
        if compression
        else None,
        block_mib=16 if block_size == 16 else 2 if block_size else None,  # noqa: PLR2004  the two that Longhorn takes
        excludes=tuple(exclude or ()),
        snapshot=SnapshotWish(_one_of("--snapshot", snapshot, [str(one) for one in SnapshotWish])),
        upload_bytes_per_second=_rate("--limit-upload", limit_upload),
        download_bytes_per_second=_rate("--limit-download", limit_download),
    )
    if name:
        _check_free(place, name)
    result = carry(cli, f"Backing up {path}", job)
    reader = cli.reader()
    _tell(cli, result, f"Backed up {reader.size(result.size)}; {reader.size(result.new_bytes)} were new.", output)
    if result.left_out:
        cli.end_with(ExitCode.PARTLY_MISSING)


def restore(
    ctx: typer.Context,
    *,
    url: options.BackupUrl,
    to: Annotated[str, typer.Option("--to", metavar="PATH", help="A directory for a tree, else a file or device.")],
    onto: Annotated[
        str, typer.Option(metavar="BACKUP", help="PATH holds this earlier backup: write only what differs.")
    ] = "",
    include: Annotated[list[str] | None, typer.Option(metavar="GLOB", help="Only these paths; repeated.")] = None,
    sparse: Annotated[bool, typer.Option("--sparse/--no-sparse", help="Whether zeros in an image are holes.")] = True,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace what is at PATH.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Write onto a device, or over what is in use.")] = False,
    limit_upload: LimitUpload = "0",
    limit_download: LimitDownload = "0",
    output: options.Output = None,
) -> None:
    """Bring one backup back. What is at PATH stays until everything new is whole."""
    from tidegate.decide.stores.places import store_place
    from tidegate.model.backups.existing_data import ExistingData
    from tidegate.model.transfers.mover_job import DownloadJob
    from tidegate.model.volumes.volume_ref import volume_fields

    cli = context_of(ctx)
    place = backup_place(cli, url)
    destination, kept = cli.environment.absolute(to), store_place(place.access.url, "the store that it reads from")
    job = DownloadJob(
        target=place.access,
        store_volume=place.volume,
        store_backup=place.backup,
        **volume_fields(_destination(place, destination)),
        existing_data=ExistingData.OVERWRITE if overwrite else ExistingData.NONE,
        onto=onto or None,
        includes=tuple(include or ()),
        force=force,
        sparse=sparse,
        keep_out=(kept,) if kept else (),
        upload_bytes_per_second=_rate("--limit-upload", limit_upload),
        download_bytes_per_second=_rate("--limit-download", limit_download),
    )
    result = carry(cli, f"Restoring {place.backup}", job)
    _tell(cli, result, f"Restored {cli.reader().size(result.size)} to {destination}.", output)


def add_data_verbs(app: typer.Typer) -> None:
    """Attach them."""
    app.command(
        "backup",
        epilog=epilog(
            "tidegate store backup /srv/shop --to /mnt/backups --volume shop",
            "tidegate store backup /home --to /mnt/backups --volume home --exclude .cache --exclude '*.tmp'",
            "tidegate store backup disk.img --to s3://bucket@eu-central-1/ --volume disk --compression gzip",
            codes=(ExitCode.PARTLY_MISSING, *_CODES),
        ),
    )(backup)
    app.command(
        "restore",
        epilog=epilog(
            "tidegate store restore '/mnt/backups?backup=backup-1&volume=shop' --to /srv/shop",
            "tidegate store restore '/mnt/backups?backup=backup-1&volume=shop' --to /tmp/some --include 'etc/**'",
            "tidegate store restore '/mnt/backups?backup=backup-2&volume=disk' --to disk.img --onto backup-1",
            codes=_CODES,
        ),
    )(restore)


def show_document(cli: CliContext, document: Wire, output: OutputFormat | None) -> bool:
    """Print it if an object was asked for; False if a person wants to read."""
    match output:
        case OutputFormat.JSON:
            cli.terminal.out(pretty_json(document))
        case OutputFormat.JSONL:
            cli.terminal.out(compact_json(document))
        case OutputFormat.YAML:
            cli.terminal.out(yaml_text(document))
        case _:
            return False
    return True


def _tell(cli: CliContext, result: "TransferResult", sentence: str, output: OutputFormat | None) -> None:
    for warning in result.warnings:
        cli.terminal.note(printable(f"Warning: {warning}"))
    cli.terminal.note(printable(sentence))
    document: Wire = {
        "url": result.url,
        "size": result.size,
        "newBytes": result.new_bytes,
        "warnings": list(result.warnings),
    }
    if result.snapshot is not None:
        document |= {"snapshot": result.snapshot, "leftOut": list(result.left_out)}
    if not show_document(cli, document, output):
        cli.terminal.out(result.url)


def _volume_at(path: Path) -> "LocalVolume":
    from tidegate.errors import SourceUnreadable
    from tidegate.model.volumes.volume_ref import Device, Directory, Image

    try:
        mode = path.stat().st_mode
    except OSError as error:
        raise SourceUnreadable(f"{path} cannot be backed up: {error.strerror}") from error
    if stat.S_ISDIR(mode):
        return Directory(str(path))
    return Device(str(path)) if stat.S_ISBLK(mode) else Image(str(path))


def _check_free(place: Place, name: str) -> None:
    """A backup is never replaced; and what a mover may do twice, a person who names it again did not mean."""
    from tidegate.errors import AlreadyExists, NotFound

    try:
        found = place.stored().backup_cfg(name)
    except NotFound:
        return
    if not found.in_progress:
        raise AlreadyExists(
            f"volume {place.volume} has a backup {name} already", hint="choose another name, or leave --name out"
        )


def _destination(place: Place, path: Path) -> "LocalVolume":
    """What the backup holds decides; a device is one because it is there."""
    from tidegate.format.trees.packed_tree import CONTENT, TREE
    from tidegate.model.volumes.volume_ref import Device, Directory, Image

    if place.stored().backup_cfg(place.backup).parameters.get(CONTENT) == TREE:
        return Directory(str(path))
    return Device(str(path)) if path.is_block_device() else Image(str(path))


def _rate(option: str, text: str) -> int | None:
    from tidegate.model.quantity import read_rate

    try:
        return read_rate(text)
    except ValueError as error:
        raise wrong_usage(f"{option}: {error}.") from error


def _one_of(option: str, value: str, allowed: list[str]) -> str:
    if value not in allowed:
        raise wrong_usage(f"{option} {value}: use {' or '.join(allowed)}.")
    return value
