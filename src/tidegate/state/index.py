"""Resources of one kind in the order of lists, and by label: what the cache and the store in memory are made of."""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from typing import Generic, TypeVar

from tidegate.model.labels import Operator, Selector
from tidegate.state.paging import BEGINNING, PlaceInList

V = TypeVar("V")


class Index(Generic[V]):
    """One value per place. A list costs what it shows, a selector of one label what carries that label."""

    def __init__(self) -> None:
        self._values: dict[PlaceInList, V] = {}
        self._labels: dict[PlaceInList, Mapping[str, str]] = {}
        self._order: list[PlaceInList] = []
        self._labelled: defaultdict[tuple[str, str], dict[PlaceInList, None]] = defaultdict(dict)

    def __len__(self) -> int:
        """How many there are."""
        return len(self._values)

    def __iter__(self) -> Iterator[PlaceInList]:
        """Every place, in order; as they are now, whatever changes meanwhile."""
        return iter(tuple(self._order))

    def get(self, place: PlaceInList) -> V | None:
        """The value at a place."""
        return self._values.get(place)

    def put(self, place: PlaceInList, labels: Mapping[str, str], value: V) -> None:
        """Hold this value there, instead of what was there before."""
        if place not in self._values:
            insort(self._order, place)
        elif self._labels[place] != labels:
            self._drop_labels(place)
        for label in labels.items():
            self._labelled[label][place] = None
        self._values[place] = value
        self._labels[place] = labels

    def remove(self, place: PlaceInList) -> V | None:
        """Forget what is there; None if nothing is."""
        value = self._values.pop(place, None)
        if value is not None:
            del self._order[bisect_left(self._order, place)]
            self._drop_labels(place)
            del self._labels[place]
        return value

    def select(
        self, selector: Selector, *, namespace: str | None = None, behind: PlaceInList = BEGINNING
    ) -> Iterator[PlaceInList]:
        """The places that a list names, in order. Good until the next change."""
        for place in self._candidates(selector, behind):
            if namespace in {None, place.namespace} and selector.holds_for(self._labels[place]):
                yield place

    def _candidates(self, selector: Selector, behind: PlaceInList) -> Iterable[PlaceInList]:
        """All that the selector may hold for: by one of its labels if it names one, else all."""
        for requirement in selector.requirements:
            if requirement.operator is Operator.IN and len(requirement.values) == 1:
                labelled = self._labelled.get((requirement.key, requirement.values[0]), {})
                return sorted(place for place in labelled if place > behind)
        begin = bisect_right(self._order, behind)
        return (self._order[number] for number in range(begin, len(self._order)))

    def _drop_labels(self, place: PlaceInList) -> None:
        for label in self._labels[place].items():
            bucket = self._labelled[label]
            bucket.pop(place, None)
            if not bucket:
                del self._labelled[label]
