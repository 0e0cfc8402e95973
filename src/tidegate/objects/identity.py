"""Whether what was opened is the store that it should be, asked before anything else is done with it."""

from tidegate.errors import NotFound, StoreIdentityChanged, StoreIdentityMissing
from tidegate.format.cfgs.store_identity import LARGEST_IDENTITY, STORE_IDENTITY, decode_identity, encode_identity
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.ports.object_store import ObjectStore
from tidegate.ports.store_reader import StoreReader

_HINT = "mount it or bring it back; one that was replaced on purpose is accepted with: tidegate target adopt NAME"


def identity_of(store: ObjectStore) -> str:
    """What the store calls itself; empty only if it says that it has no identity."""
    try:
        return decode_identity(store.get(STORE_IDENTITY, at_most=LARGEST_IDENTITY))
    except NotFound:
        return ""


def give_identity(store: ObjectStore, identity: str) -> str:
    """Let a store that has none be called so. Return what it is called now: another writer may have come first."""
    store.put_if_absent(STORE_IDENTITY, encode_identity(identity))
    return identity_of(store)


def check_store(store: ObjectStore, expected: str, *, url: str) -> None:
    """Raise StoreIdentityMissing or StoreIdentityChanged if the store is not the expected one."""
    if expected:
        _compare(identity_of(store), expected, url)


def recognise(store: ObjectStore, access: TargetAccess) -> None:
    """The same for a store that is open already: another bucket may be behind its URL by now."""
    check_store(store, access.identity, url=access.url.partition("?")[0])


async def check_reader(reader: StoreReader, expected: str, *, url: str) -> None:
    """The same for a store that can only be read."""
    if not expected:
        return
    try:
        found = decode_identity((await reader.read_part(STORE_IDENTITY, start=0, length=LARGEST_IDENTITY)).body)
    except NotFound:
        found = ""
    _compare(found, expected, url)


def _compare(found: str, expected: str, url: str) -> None:
    if not found:
        raise StoreIdentityMissing(f"{url} does not lead to store {expected}: what is there has no name", hint=_HINT)
    if found != expected:
        raise StoreIdentityChanged(f"{url} leads to store {found}, not to store {expected}", found=found, hint=_HINT)
