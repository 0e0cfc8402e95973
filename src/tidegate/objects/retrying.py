"""A store that is asked again when it did not answer."""

from collections.abc import Callable, Iterator
from random import Random
from typing import TypeVar

from tidegate.errors import NotFound, StoreUnavailable, WorkCancelled
from tidegate.objects.backoff import Backoff, Patience
from tidegate.objects.pass_through import PassThrough
from tidegate.ports.object_store import Listing, ObjectInfo, ObjectStore

T = TypeVar("T")
# Waits so many seconds; True means that the work is no longer wanted.
Pause = Callable[[float], bool]


class RetryingObjects(PassThrough):
    """Passes everything on; StoreUnavailable, and nothing else, is tried again until patience or the work ends.

    `at_first` is the patience with a store that has not answered yet, if it is another one.
    """

    def __init__(
        self, inner: ObjectStore, *, patience: Patience, pause: Pause, random: Random, at_first: Patience | None = None
    ) -> None:
        super().__init__(inner)
        self._patience = patience
        self._at_first = at_first
        self._pause = pause
        self._random = random

    def get(self, key: str, *, at_most: int) -> bytes:
        """See ObjectStore."""
        return self._insist(lambda: self._inner.get(key, at_most=at_most))

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:
        """See ObjectStore."""
        self._insist(lambda: self._inner.put(key, body, lazily=lazily))

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore. A try whose answer got lost may have succeeded: then the object that is there is ours."""
        tries = 0

        def put() -> bool:
            nonlocal tries
            tries += 1
            return self._inner.put_if_absent(key, body, lazily=lazily) or (tries > 1 and self._holds(key, body))

        return self._insist(put)

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore."""
        return self._insist(lambda: self._inner.head(key))

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        return self._insist(lambda: self._inner.list_level(prefix))

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """See ObjectStore. Only the beginning is tried again: who has got a part cannot be given it twice."""

        def begin() -> tuple[Iterator[ObjectInfo], ObjectInfo | None]:
            listing = iter(self._inner.list_all(prefix))
            return listing, next(listing, None)

        listing, first = self._insist(begin)
        if first is not None:
            yield first
            yield from listing

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        self._insist(lambda: self._inner.delete(key))

    def flush(self) -> None:
        """See ObjectStore."""
        self._insist(self._inner.flush)

    def _holds(self, key: str, body: bytes) -> bool:
        try:
            return self._inner.head(key).size == len(body) and self._inner.get(key, at_most=len(body)) == body
        except NotFound:
            return False

    def _insist(self, request: Callable[[], T]) -> T:
        backoff = Backoff(self._at_first or self._patience, self._random)
        while True:
            try:
                answer = request()
            except NotFound:
                self._at_first = None  # an answer too
                raise
            except StoreUnavailable as error:
                delay = backoff.after(error)
                if delay is None:
                    raise
                if self._pause(delay):
                    raise WorkCancelled("the work was cancelled while the store did not answer") from error
            else:
                self._at_first = None
                return answer
