"""How news that are not in the store, such as a mover's report, make a reconciler look at a key."""

from collections.abc import Callable
from functools import partial

from tidegate.controllers.reconcile.work_queue import WorkQueue
from tidegate.model.resource import Ref


class Wakes:
    """Made before the reconcilers, so that each source of news gets its way when it is made.

    While no runtime runs, a wake does nothing: at its start a runtime has everything looked at.
    """

    def __init__(self) -> None:
        self._queues: dict[str, WorkQueue] = {}

    def of(self, reconciler: str) -> Callable[[Ref], None]:
        """The way to a reconciler of this name, whether it exists yet or not."""
        return partial(self.wake, reconciler)

    def wake(self, reconciler: str, key: Ref) -> None:
        """Have this reconciler look at the key as soon as a worker is free."""
        if reconciler in self._queues:
            self._queues[reconciler].add(key)

    def open(self, reconciler: str, queue: WorkQueue) -> None:
        """Its work goes to this queue from now on."""
        self._queues[reconciler] = queue

    def close(self) -> None:
        """Nothing works any more."""
        self._queues.clear()
