"""From a target's URL to a reader of its store, which can only look."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from random import Random

from tidegate.errors import InvalidInput, StoreUnavailable
from tidegate.format.cfgs.paths import ROOT
from tidegate.model.transfers.mover_job import TargetAccess
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
    root = _Root(access)
    return ThreadedReader(root.open(), reopen=root.open)


class _Root:
    """The directory that a URL leads to, each time it is opened. Remembers which one it was."""

    def __init__(self, access: TargetAccess) -> None:
        self._access = access
        self._last: DirectoryObjects | None = None

    def open(self) -> DirectoryObjects:
        """Raises StoreUnavailable for another directory than the last time, if it holds nothing of a store.

        That is what is left where a share was mounted. Whoever took it for the store would believe that all is gone.
        """
        # Which store it is, each sync asks by itself: what one remembers may change while this is kept.
        store = open_store(self._access.replace(identity=""))
        if not isinstance(store, DirectoryObjects):
            raise InvalidInput(f"{self._access.url!r} is of a kind that cannot be synced", field="spec.url")
        last = self._last
        if last is not None and store.identity != last.identity and ROOT not in store.list_level("").prefixes:
            raise StoreUnavailable(
                f"{self._access.url} leads to another directory than before, with no backups in it; is it mounted?",
                hint=f"mount it again; if the store is meant to be empty, make a directory {ROOT} in it",
            )
        self._last = store
        return store
