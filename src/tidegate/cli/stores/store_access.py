"""Which store, volume and backup a command is about, and with which credentials the store is reached."""

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, quote

from tidegate.cli.context import CliContext
from tidegate.cli.failures import wrong_usage

if TYPE_CHECKING:
    from tidegate.datapath.stored_volume import StoredVolume
    from tidegate.datapath.workshop import Workshop
    from tidegate.model.transfers.mover_job import TargetAccess
    from tidegate.ports.object_store import ObjectStore

# What a shell leaves of an `&` that was copied out of JSON.
_ESCAPED_AND = re.compile(r"\\?u0026(?=(?:backup|volume)=)")


@dataclass(frozen=True)
class Place:
    """A store, one of its volumes, or one backup of it; volume and backup are empty where they were not named."""

    cli: CliContext
    target: str
    volume: str = ""
    backup: str = ""

    @property
    def access(self) -> "TargetAccess":
        """For a job."""
        from tidegate.model.access.credentials import CREDENTIAL_NAMES, ENCRYPTION_NAMES
        from tidegate.model.transfers.mover_job import TargetAccess

        variables = self.cli.environment.variables
        # Only the names that this kind of target knows; nothing else of the environment reaches a store.
        names = CREDENTIAL_NAMES.get(self.target.partition("://")[0].lower(), frozenset()) | ENCRYPTION_NAMES
        return TargetAccess(
            url=self.target, credentials={name: variables[name] for name in sorted(names) if name in variables}
        )

    @cached_property
    def shop(self) -> "Workshop":
        """What work is done with."""
        return self.cli.workshop()

    @cached_property
    def objects(self) -> "ObjectStore":
        """The store itself."""
        return self.shop.open_store(self.access)

    def stored(self) -> "StoredVolume":
        """The volume in the store, with the key from the environment if there is one."""
        from tidegate.datapath.stored_volume import StoredVolume

        return StoredVolume(self.objects, self.volume, key=self.shop.find_key(self.access.credentials))


def place_of(cli: CliContext, text: str) -> Place:
    """What a URL, or the path of a directory that is a store, names."""
    from tidegate.format.cfgs.backup_url import BackupUrl

    cleaned = _ESCAPED_AND.sub("&", text.strip().strip("'\""))
    if not cleaned:
        raise wrong_usage("The URL of the store is empty.", hint="Write for example file:///srv/backups.")
    base, mark, query = cleaned.partition("?")
    if "://" not in base:
        base = f"file://{quote(str(cli.environment.absolute(base)))}"
    url = f"{base}{mark}{query}"
    if "volume" not in dict(parse_qsl(query, keep_blank_values=True)):
        return Place(cli, url)
    found = BackupUrl.decode(url)
    return Place(cli, found.target, found.volume, found.backup)


def volume_place(cli: CliContext, text: str, volume: str | None = None) -> Place:
    """The same where a volume is needed, named in the URL or, by commands that have `--volume`, beside it."""
    from tidegate.format.cfgs.paths import check_name

    place = place_of(cli, text)
    if volume and place.volume not in {"", volume}:
        raise wrong_usage(f"The URL names volume {place.volume}, --volume names {volume}.")
    if not (volume or place.volume):
        beside = "with --volume, or " * (volume is not None)
        raise wrong_usage("Which volume?", hint=f"Name it {beside}in the URL as ?volume=NAME.")
    return Place(cli, place.target, check_name(volume or place.volume, what="volume"), place.backup)


def backup_place(cli: CliContext, text: str) -> Place:
    """The same where a backup is needed."""
    place = place_of(cli, text)
    if not place.backup:
        raise wrong_usage(
            f"{text!r} does not name a backup.", hint="Write STORE?backup=NAME&volume=NAME, in quotes for the shell."
        )
    return place
