"""What `restore create` and `restore plan` ask a person for, and the object that becomes of it."""

from dataclasses import dataclass
from datetime import UTC
from typing import Annotated

import typer

from tidegate.cli import options
from tidegate.cli.completion import names_of
from tidegate.cli.context import CliContext
from tidegate.cli.failures import wrong_usage
from tidegate.cli.http.nouns import BACKUP, NAMESPACE, SCHEDULE, VOLUME
from tidegate.cli.http.wire import Wire
from tidegate.cli.options import read_labels, split_commas
from tidegate.cli.output.formats import ExistingData
from tidegate.cli.verbs.creating import new_resource

NewName = Annotated[
    str, typer.Argument(metavar="NAME", help="Name of the new restore; empty: <source>-<yyyymmddhhmmss>, in UTC.")
]


@dataclass(frozen=True)
class RestoreWishes:
    """What was said about a restore on the command line; a field is an option of the same name."""

    from_backup: Annotated[
        str, typer.Option(metavar="BACKUP", help="Restore this backup.", autocompletion=names_of(BACKUP))
    ] = ""
    from_schedule: Annotated[
        str,
        typer.Option(
            metavar="SCHEDULE",
            help="Restore the newest Completed backup of this schedule.",
            autocompletion=names_of(SCHEDULE),
        ),
    ] = ""
    from_url: Annotated[
        str, typer.Option(metavar="URL", help="Restore one volume backup, also one that Longhorn wrote, by its URL.")
    ] = ""
    to: Annotated[
        str,
        typer.Option(
            metavar="DIRECTORY", help="Put each volume below this directory; empty: where the volume belongs."
        ),
    ] = ""
    include_namespaces: Annotated[
        str,
        typer.Option(metavar="NAMES", help="Namespaces, by commas; empty: all.", autocompletion=names_of(NAMESPACE)),
    ] = ""
    exclude_namespaces: Annotated[str, options.namespaces_left_out()] = ""
    namespace_mappings: Annotated[
        str,
        typer.Option(metavar="OLD:NEW", help="Bring what was in OLD back to the volumes of NEW; several by commas."),
    ] = ""
    include_volumes: Annotated[
        str,
        typer.Option(
            metavar="NAMES",
            help="Volumes as NAMESPACE/NAME, by commas; empty: all.",
            autocompletion=names_of(VOLUME),
        ),
    ] = ""
    include_paths: Annotated[
        list[str] | None,
        typer.Option(metavar="GLOB", help="Only these paths of a file tree; may be repeated."),
    ] = None
    volume_order: Annotated[
        str, typer.Option(metavar="NAMES", help="Volumes as NAMESPACE/NAME that come first, in this order.")
    ] = ""
    existing_data: Annotated[
        ExistingData,
        typer.Option(help="Where something is already: leave it alone and refuse the restore, or overwrite."),
    ] = ExistingData.NONE
    force: Annotated[
        bool,
        typer.Option(
            "--force",
            help="Write also onto block devices, and onto what is mounted or in use: whoever uses it may lose "
            "what it writes, or see a mixture.",
        ),
    ] = False

    def resource(self, cli: CliContext, name: str = "", labels: list[str] | None = None) -> Wire:
        """The restore as the API takes it; without a name it is named after its source and the time."""
        spec: Wire = {
            "backupName": self.from_backup,
            "scheduleName": self.from_schedule,
            "backupUrl": self.from_url,
            "destination": str(cli.environment.absolute(self.to)) if self.to else None,
            "includedNamespaces": split_commas(self.include_namespaces),
            "excludedNamespaces": split_commas(self.exclude_namespaces),
            "namespaceMapping": _read_mappings(self.namespace_mappings),
            "includedVolumes": split_commas(self.include_volumes),
            "includedPaths": self.include_paths or [],
            "volumeOrder": split_commas(self.volume_order),
            "existingData": str(self.existing_data),
            "force": self.force or None,
        }
        source = self._source()
        name = name or f"{source}-{cli.clock.now().astimezone(UTC):%Y%m%d%H%M%S}"
        return new_resource("Restore", name, spec, labels=read_labels(labels))

    def _source(self) -> str:
        given = [source for source in (self.from_backup, self.from_schedule, self.from_url) if source]
        if len(given) != 1:
            raise wrong_usage(
                "Say what to restore from: one of --from-backup, --from-schedule and --from-url.",
                hint="See what there is: tidegate backup get",
            )
        if not self.from_url:
            return given[0]
        from tidegate.format.cfgs.backup_url import BackupUrl

        return BackupUrl.decode(self.from_url).volume


def _read_mappings(text: str) -> dict[str, str]:
    mappings: dict[str, str] = {}
    for part in split_commas(text):
        old, sign, new = part.partition(":")
        if not sign or not old or not new or old in mappings:
            why = f"{old} is there twice" if old in mappings else f"{part!r} is not a mapping"
            raise wrong_usage(f"--namespace-mappings: {why}.", hint="Write OLD:NEW, for example shop:shop-copy.")
        mappings[old] = new
    return mappings
