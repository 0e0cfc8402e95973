"""Facets: by what the backups that match a filter can be told apart, and how many there are of each."""

from tidegate.model.frozen import Model


class FacetValue(Model):
    """One value, as the filter of the same name takes it."""

    value: str
    backups: int


class Facet(Model):
    """The most frequent values of one property."""

    values: tuple[FacetValue, ...] = ()
    more: bool = False
    """There are other values than these."""
    newest: int | None = None
    """Counted only among so many of the newest that match; absent: among all."""


class CatalogueFacets(Model):
    """What matches, told apart. A label is written `key=value`."""

    backups: int
    """How many match; with `more`, at least so many."""
    more: bool = False
    targets: Facet
    namespaces: Facet
    states: Facet
    labels: Facet
