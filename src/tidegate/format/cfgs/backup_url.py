"""Backup URLs: a target's URL with `backup=` and `volume=` in its query, as Longhorn writes them."""

from dataclasses import dataclass
from urllib.parse import parse_qsl, quote_plus, urlencode

from tidegate.errors import InvalidInput
from tidegate.format.cfgs.paths import check_name
from tidegate.model.stores.store_url import same_store as same_store  # noqa: PLC0414  # many know it from here

_LONGEST_URL = 4096


@dataclass(frozen=True)
class BackupUrl:
    """One volume backup, or with an empty `backup` one volume, in one store."""

    target: str
    volume: str
    backup: str = ""

    def encode(self) -> str:
        """The URL; the target's own options are kept, all keys sorted."""
        base, _, query = self.target.partition("?")
        if not query and self.backup:  # nearly always, and in a list for each of its entries
            return f"{base}?backup={quote_plus(self.backup)}&volume={quote_plus(self.volume)}"
        options = [*parse_qsl(query, keep_blank_values=True), ("volume", self.volume)]
        if self.backup:
            options.append(("backup", self.backup))
        return f"{base}?{urlencode(sorted(options, key=lambda option: option[0]))}"

    @classmethod
    def decode(cls, url: str) -> "BackupUrl":
        """Read a URL, also one copied out of Longhorn's JSON, where `&` is escaped; raises InvalidInput."""
        if len(url) > _LONGEST_URL:
            raise InvalidInput(f"a backup URL has at most {_LONGEST_URL} characters")
        base, _, query = url.strip().replace("\\u0026", "&").partition("?")
        options = parse_qsl(query, keep_blank_values=True)
        named = dict(options)
        volume, backup = named.get("volume", ""), named.get("backup", "")
        if "://" not in base or not volume:
            raise InvalidInput(
                f"{url!r} is not a backup URL", hint="write for example 'file:///srv/store?backup=NAME&volume=NAME'"
            )
        check_name(volume, what="volume")
        if backup:
            check_name(backup, what="backup")
        rest = sorted((option for option in options if option[0] not in {"volume", "backup"}), key=lambda o: o[0])
        return cls(f"{base}?{urlencode(rest)}" if rest else base, volume, backup)
