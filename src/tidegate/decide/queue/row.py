"""A queue in its order, made into what is asked for only as far as somebody looks."""

from collections.abc import Callable, Iterator, Sequence
from typing import Generic, TypeVar, overload

T = TypeVar("T")


class Row(Sequence[T], Generic[T]):
    """Over (place, tie-breaker, name), which its owner keeps sorted."""

    def __init__(self, order: Sequence[tuple[int, int, str]], make: Callable[[str], T]) -> None:
        self._order = order
        self._make = make

    def __len__(self) -> int:
        return len(self._order)

    def __iter__(self) -> Iterator[T]:
        return (self._make(name) for _, _, name in self._order)

    @overload
    def __getitem__(self, index: int) -> T: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...
    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self._make(name) for _, _, name in self._order[index]]
        return self._make(self._order[index][2])
