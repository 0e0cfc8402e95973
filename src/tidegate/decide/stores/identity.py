"""Whether the place that a target's URL leads to is its store, and what becomes of a target whose store it is not."""

import hashlib
from dataclasses import dataclass

from tidegate.errors import StoreIdentityChanged, StoreIdentityMissing, TidegateError
from tidegate.model.stores.target import ADOPT_STORE, BackupTarget, StoreIdentity


@dataclass(frozen=True)
class Expected:
    """What a look at a target has to find out."""

    identity: str = ""
    """The store that it is; empty: none is known, so whatever is there may become it."""
    recognise: bool = False
    """Whether it must hold what is known of the target's store before it may become it."""
    adopted: bool = False
    """Whether a person wants what is there to become it."""


def expected_of(target: BackupTarget) -> Expected:
    """From what is stored. What a person adopts is what that person has seen: if it had an identity, then that one."""
    store = target.status.store
    if wants_adoption(target):
        return Expected(identity=store.found, adopted=True)
    if target.identified and store.identity:
        return Expected(identity=store.identity)
    # What is known of volumes is about the place that was seen; another one, which a person has named, may be anything.
    return Expected(recognise=store.url in {"", target.spec.url})


def wants_adoption(target: BackupTarget) -> bool:
    """Whether a person has accepted exactly what is there in place of the store."""
    mark = target.status.store.adopt
    return bool(mark) and target.metadata.annotations.get(ADOPT_STORE) == mark


def after_look(target: BackupTarget, identity: str, error: TidegateError | None) -> StoreIdentity:
    """What is known of the target's store after a look that found this, or failed."""
    store = target.status.store
    if error is None:
        return StoreIdentity(identity=identity, url=target.spec.url)
    if not isinstance(error, StoreIdentityMissing | StoreIdentityChanged):
        return store
    if not target.identified:
        store = StoreIdentity()
    return store.replace(found=error.found, adopt=_mark(target.spec.url, store.identity, error.found))


def _mark(url: str, identity: str, found: str) -> str:
    """Never the same for two changes: what was accepted once says nothing about the next time."""
    return hashlib.sha256(f"{url}\n{identity}\n{found}".encode()).hexdigest()[:12]


def what_is_wrong(target: BackupTarget, error: TidegateError | None) -> str:
    """One sentence for the target's status; empty if nothing is."""
    if not isinstance(error, StoreIdentityMissing | StoreIdentityChanged):
        return error.message if error else ""
    return f"{error.message}; mount it or bring it back, or accept what is there: {target.adopt_command}"


def reason_of(error: TidegateError | None) -> str:
    """Of the condition that tells whether the target is available."""
    if isinstance(error, StoreIdentityMissing | StoreIdentityChanged):
        return error.code
    return "NoAnswer" if error else "Answered"


def is_recognised(found: int, *, of: int) -> bool:
    """Whether a store without an identity is the one that held so many volumes: others may have removed a few."""
    return 2 * found >= of


def unrecognised(url: str, found: int, *, of: int) -> str:
    """Why it is not."""
    return f"{url} does not lead to the store that it was: of {of} volumes that should be there it holds {found}"
