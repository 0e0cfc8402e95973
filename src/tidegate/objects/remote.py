"""A store behind a network: S3 and what speaks like it, Azure Blob, Google Cloud Storage."""

import contextlib
import threading
from collections.abc import Iterator
from io import BytesIO

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotSupportedError

from tidegate.errors import DamagedMetadata, NotFound, StoreUnavailable
from tidegate.objects.key_locks import KeyLocks
from tidegate.objects.place import Place
from tidegate.objects.remote_clients import RemoteClient
from tidegate.objects.remote_errors import translated, translation
from tidegate.ports.object_store import Listing, ObjectInfo

_PAGE = 1000
# Enough to fill a line of 100 MB/s at 300 ms for each answer, also with blocks of which compression leaves two thirds.
_IN_FLIGHT = 24
_PIECE = 64 * 1024
# Nobody has an object of this name; asking for it shows whether the store can say "not found".
_NOBODY = ".tidegate-nobody"


class RemoteObjects:
    """Keeps the ObjectStore's promise in a bucket that must exist already. What is put is durable at once."""

    def __init__(self, client: RemoteClient) -> None:
        self._client = client
        self._place = client.place
        self._conditions_work: bool | None = True if client.known_kind else None
        self._locks = KeyLocks()
        self._learning = threading.Lock()

    @property
    def requests_in_flight(self) -> int:
        """See ObjectStore."""
        return _IN_FLIGHT

    @property
    def lists_at_once(self) -> bool:
        """See ObjectStore."""
        return self._client.known_kind

    def get(self, key: str, *, at_most: int) -> bytes:
        """See ObjectStore."""
        name = self._place.key(key)
        with translated(self._place, key, "read"):
            answer = obstore.get(self._client.single, name)
            size = answer.meta["size"]
            if size > at_most:
                raise DamagedMetadata(f"{key} has {size} bytes; at most {at_most} were expected")
            # Piece by piece, and none kept: the library would join them in memory of its own, and we would copy that.
            body = BytesIO()
            for piece in answer.stream(min_chunk_size=_PIECE):
                body.write(piece)
        if body.tell() != size:
            raise StoreUnavailable(f"{key} came with {body.tell()} of its {size} bytes from {self._place}")
        # Python hands out the buffer itself, and no copy of it.
        return body.getvalue()

    def put(self, key: str, body: bytes, *, lazily: bool = False) -> None:  # noqa: ARG002  # all is durable at once
        """See ObjectStore."""
        name = self._place.key(key)
        with translated(self._place, key, "write"):
            obstore.put(self._client.single, name, body, use_multipart=False)

    def put_if_absent(self, key: str, body: bytes, *, lazily: bool = False) -> bool:
        """See ObjectStore.

        A store that does not honour conditions is asked first. Two machines that write one key there at the same time
        may both succeed: harmless for blocks, whose bytes follow from their keys, and what Longhorn itself risks.
        """
        name = self._place.key(key)
        if self._conditions_work:
            return self._create(key, name, body)
        with self._locks.hold(key):
            if self._is_there(key, name):
                return False
            if self._conditions_work is not False:
                created = self._create(key, name, body)
                if created and lazily:
                    self._learn_from(key, name, body)
                return created
            self.put(key, body)
            return True

    def head(self, key: str) -> ObjectInfo:
        """See ObjectStore."""
        name = self._place.key(key)
        with translated(self._place, key, "look at"):
            try:
                return self._info(obstore.head(self._client.single, name))
            except FileNotFoundError:
                # The answer to HEAD has no body and cannot tell a missing object from a missing bucket; GET can.
                return self._info(obstore.get(self._client.single, name).meta)

    def list_level(self, prefix: str) -> Listing:
        """See ObjectStore."""
        name = self._place.prefix(prefix)
        with translated(self._place, prefix, "list"):
            answer = obstore.list_with_delimiter(self._client.single, name or None)
        # A tool's marker for an empty folder shows as an object of the folder's own name.
        objects = [self._info(meta) for meta in answer["objects"] if meta["path"] != name]
        prefixes = [self._place.without_path(found) for found in answer["common_prefixes"]]
        if not objects and not prefixes:
            self._believe_empty(prefix)
        return Listing(tuple(sorted(objects, key=lambda info: info.key)), tuple(sorted(prefixes)))

    def list_all(self, prefix: str) -> Iterator[ObjectInfo]:
        """See ObjectStore."""
        name = self._place.prefix(prefix)
        empty = True
        pages = obstore.list(self._client.listing, name or None, chunk_size=_PAGE)
        while True:
            with translated(self._place, prefix, "list"):
                page = next(pages, None)
            if page is None:
                break
            empty = False
            yield from (self._info(meta) for meta in page if meta["path"] != name)
        if empty:
            self._believe_empty(prefix)

    def delete(self, key: str) -> None:
        """See ObjectStore."""
        name = self._place.key(key)
        try:
            obstore.delete(self._client.single, name)
        except (BaseError, OSError, ValueError) as error:
            problem = translation(error, self._place, key, "remove")
            if not isinstance(problem, NotFound):
                raise problem from None

    def flush(self) -> None:
        """See ObjectStore."""

    def _create(self, key: str, name: str, body: bytes) -> bool:
        try:
            obstore.put(self._client.single, name, body, use_multipart=False, mode="create")
        except AlreadyExistsError as error:
            if "ConditionalRequestConflict" in str(error):
                # Somebody writes or deletes the key right now, and who wins is not known yet.
                raise StoreUnavailable(f"{key} in {self._place} is being changed by somebody else") from None
            self._conditions_work = True
            return False
        except (BaseError, OSError, ValueError) as error:
            if not _refuses_conditions(error):
                raise translation(error, self._place, key, "write") from None
            self._conditions_work = False
            if self._is_there(key, name):
                return False
            self.put(key, body)
        return True

    def _learn_from(self, key: str, name: str, body: bytes) -> None:
        """Put once more what we have just created: a store that honours conditions refuses, and is not asked any more.

        Only with what was put lazily: those are blocks, over which the same bytes do no harm in a store that does not.
        Without this every block of a first backup would cost a look before it, and on a far line twice the time.
        """
        if self._conditions_work is not None or not self._learning.acquire(blocking=False):
            return
        try:
            with contextlib.suppress(StoreUnavailable):
                # No answer teaches nothing, and the block itself is there: the next one may try.
                if self._create(key, name, body):
                    self._conditions_work = False
        finally:
            self._learning.release()

    def _is_there(self, key: str, name: str) -> bool:
        """A quick look before a write; the write itself finds out if the bucket is missing."""
        with translated(self._place, key, "look at"):
            try:
                obstore.head(self._client.single, name)
            except FileNotFoundError:
                return False
        return True

    def _believe_empty(self, prefix: str) -> None:
        """An empty listing counts only from a store that can say "not found".

        Any web page with status 200 reads as a listing without entries, and a store that seems empty is how backups
        were lost (longhorn#9530).
        """
        key = f"{prefix}/{_NOBODY}" if prefix else _NOBODY
        try:
            self.get(key, at_most=0)
        except NotFound:
            return
        except DamagedMetadata:
            pass
        raise StoreUnavailable(f"{self._place} answers, but not as a store does; check the endpoint and the URL")

    def _info(self, meta: "obstore.ObjectMeta") -> ObjectInfo:
        return seen(self._place, meta)


def seen(place: Place, meta: "obstore.ObjectMeta") -> ObjectInfo:
    """What the library tells of an object, in our words."""
    # Some stores quote the tag in one answer and not in another.
    etag = (meta["e_tag"] or "").strip('"')
    return ObjectInfo(place.without_path(meta["path"]), meta["size"], meta["last_modified"], etag)


def _refuses_conditions(error: Exception) -> bool:
    """Whether the store says that it does not know "only if absent": 501, or 400 about the header."""
    text = str(error)
    return isinstance(error, (NotSupportedError, NotImplementedError)) or "status code: 501" in text
