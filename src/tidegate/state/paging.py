"""Markers of list pages: the key of the last resource seen, so that a page costs the same at any depth."""

from typing import NamedTuple

from tidegate.errors import InvalidInput


class PlaceInList(NamedTuple):
    """Lists are ordered by namespace and name; a page goes on behind such a place."""

    namespace: str
    name: str

    def to_marker(self) -> str:
        """Neither a namespace nor a name can hold a slash."""
        return f"{self.namespace}/{self.name}"


BEGINNING = PlaceInList("", "")


def place_of(marker: str | None) -> PlaceInList:
    """Where the page begins; raises InvalidInput for what no page ever gave out."""
    if marker is None:
        return BEGINNING
    namespace, slash, name = marker.partition("/")
    if not slash or not name:
        raise InvalidInput(f"{marker!r} is not a marker; take one from an earlier page", field="marker")
    return PlaceInList(namespace, name)


def check_limit(limit: int | None) -> None:
    """Refuse a page that could never end."""
    if limit is not None and limit < 1:
        raise InvalidInput(f"a page of {limit} resources makes no sense; ask for at least 1", field="limit")
