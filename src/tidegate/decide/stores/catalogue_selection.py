"""What may be done to all backups that match a filter, and which Backups of this server wrote them. Pure."""

from collections import Counter
from collections.abc import Iterable, Mapping

from tidegate.errors import InvalidInput, Refused
from tidegate.model.stores.catalogue import CatalogueBackup, CatalogueCounts, CatalogueFilter
from tidegate.model.transfers.transfer import Transfer

MOST_DELETED = 10_000
"""Backups that one request may delete: each is a name in a stored record."""
OWNER_LABEL = "tidegate.dev/backup"
"""What our movers write into a store: the Backup that an upload was made for."""


def check_deletable(wanted: CatalogueFilter, found: CatalogueCounts) -> None:
    """Raise InvalidInput where the filter alone says that this cannot be meant."""
    if wanted == CatalogueFilter():
        raise InvalidInput(
            "no filter is given, and without one everything would go", hint="say what shall go, for example a volume"
        )
    if found.more or found.backups > MOST_DELETED:
        number = f"more than {found.backups}" if found.more else f"{found.backups}"
        raise InvalidInput(
            f"{number} backups match, and at most {MOST_DELETED} are deleted at once",
            hint="narrow the filter down, for example by a time; or delete whole volumes",
        )


def check_expected(expected: int, found: int) -> None:
    """Raise Refused if more match than somebody saw: nobody deletes what nobody has seen."""
    if found > expected:
        raise Refused(
            f"{found} backups match by now, not {expected}; nothing was deleted",
            hint="look at them again, then ask for that many",
        )


def owners_claimed(rows: Iterable[CatalogueBackup]) -> list[str]:
    """The Backups that the rows name, each once. Labels are anybody's: whether it is true is for `written_by`."""
    names = (row.record.labels.get(OWNER_LABEL, "") for row in rows)
    return list(dict.fromkeys(name for name in names if name))


def written_by(rows: Iterable[CatalogueBackup], uploads: Mapping[str, Iterable[Transfer]]) -> Counter[str]:
    """How many of the rows each Backup wrote, by its own uploads."""
    owners = {
        (upload.spec.target, upload.spec.store_volume, upload.spec.store_backup): name
        for name, of_backup in uploads.items()
        for upload in of_backup
    }
    places = ((row.target, row.volume, row.record.name) for row in rows)
    return Counter(owners[place] for place in places if place in owners)
