"""From a target's URL to a reader of its store, which can only look."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import Random

from tidegate.errors import InvalidInput
from tidegate.model.mover_job import TargetAccess
from tidegate.objects.credentials import check_credentials
from tidegate.objects.directory import DirectoryObjects
from tidegate.objects.open import open_store
from tidegate.objects.reading import ThreadedReader
from tidegate.ports.store_reader import StoreReader

_REMOTE = frozenset({"s3", "azblob", "gs"})


def open_reader(access: TargetAccess, *, in_flight: int, pause: Callable[[float], Awaitable[None]]) -> StoreReader:
    """The reader for this URL; may take as long as mounting a share does. Raises as `open_store` does."""
    scheme, _, rest = access.url.partition("://")
    if scheme.lower() in _REMOTE:
        # Here, because a machine that only has directories need not load the client library.
        from tidegate.objects.place import read_place
        from tidegate.objects.remote_clients import connect
        from tidegate.objects.remote_reader import SYNC_PATIENCE, RemoteReader

        client = connect(
            read_place(scheme.lower(), rest),
            check_credentials(scheme.lower(), access.credentials),
            request_timeout=timedelta(seconds=SYNC_PATIENCE.request_seconds),
        )
        return RemoteReader(client, in_flight=in_flight, random=Random(), pause=pause)  # noqa: S311  # jitter
    store = open_store(access)
    if not isinstance(store, DirectoryObjects):
        raise InvalidInput(f"{access.url!r} is of a kind that cannot be synced", field="spec.url")
    return ThreadedReader(store)
