"""Looks at stores in threads, and waits for an answer only so long."""

import asyncio
from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

from tidegate.app.machine.daemon_threads import in_daemon_thread
from tidegate.app.machine.encryption_key import key_for
from tidegate.app.machine.identity import new_id
from tidegate.app.machine.in_time import ANSWER_SECONDS, in_time
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.decide.stores.identity import is_recognised, unrecognised
from tidegate.errors import NoSpace, Refused, StoreIdentityMissing, Unauthenticated
from tidegate.format.cfgs.paths import volume_dir
from tidegate.format.trees.packed_tree import CONTENT, TREE, shown_size
from tidegate.model.restores.restore_plan import StoredBackup
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.objects.backoff import HURRIED
from tidegate.objects.identity import give_identity, identity_of
from tidegate.objects.open import open_store
from tidegate.ports.object_store import Listing

T = TypeVar("T")

_LOOK = "look at a store"


def list_root(access: TargetAccess) -> None:
    """Open the store and list its root: what the first backup will do."""
    open_store(access, patience=HURRIED).list_level("")


def read_stored(access: TargetAccess, volume: str, backup: str) -> StoredBackup:
    """Read the backup's cfg: what a download of it will do first."""
    objects = open_store(access, patience=HURRIED)
    stored = StoredVolume(objects, volume, key=key_for(access))
    cfg = stored.backup_cfg(backup)
    if cfg.in_progress:
        raise Refused(f"backup {backup} of volume {volume} is not finished", hint="wait for it, or choose another one")
    size = cfg.true_size or stored.volume_cfg().size
    return StoredBackup(
        labels=dict(cfg.labels),
        is_tree=cfg.parameters.get(CONTENT) == TREE,
        size=shown_size(cfg.parameters, image_size=size),
    )


def identified(access: TargetAccess, volumes: Sequence[str]) -> str:
    """Look what the store calls itself; let it have a name if it is recognised by these volumes."""
    objects = open_store(access, patience=HURRIED)
    objects.list_level("")
    if found := identity_of(objects):
        return found
    there = [name for name in volumes if objects.list_level(volume_dir(name)) != Listing((), ())]
    if not is_recognised(len(there), of=len(volumes)):
        raise StoreIdentityMissing(unrecognised(access.url.partition("?")[0], len(there), of=len(volumes)))
    try:
        return give_identity(objects, new_id())
    except (Unauthenticated, NoSpace):
        return ""


class ThreadedStoreProbe:
    """Keeps the promise of StoreProbe for every kind of store."""

    def __init__(
        self, look: Callable[[TargetAccess], None] = list_root, *, answer_seconds: float = ANSWER_SECONDS
    ) -> None:
        self._look = look
        self._answer_seconds = answer_seconds
        self._looks: dict[Hashable, asyncio.Future[None]] = {}

    async def check(self, access: TargetAccess) -> None:
        """Look whether the store answers, and in time.

        A mounted share whose server is gone lets a thread hang for ever. So there is at most one look at a store under
        way, in a thread that nothing waits for at the end, and further callers wait for that one.
        """
        key = (access.url, tuple(sorted(access.credentials.items())), access.identity)
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = in_daemon_thread(lambda: self._look(access), name=_LOOK)
            look.add_done_callback(lambda _: self._looks.pop(key, None))
        await in_time(asyncio.shield(look), access.url, seconds=self._answer_seconds)

    async def identify(self, access: TargetAccess, *, volumes: Sequence[str] = ()) -> str:
        """Look."""
        return await self.ask(access, lambda: identified(access, volumes))

    async def stored_backup(self, access: TargetAccess, volume: str, backup: str) -> StoredBackup:
        """Read it."""
        return await self.ask(access, lambda: read_stored(access, volume, backup))

    async def ask(self, access: TargetAccess, work: Callable[[], T]) -> T:
        """Do work at a store once it is known to answer: a hanging one holds one thread only."""
        await self.check(access)
        return await in_time(in_daemon_thread(work, name=_LOOK), access.url, seconds=self._answer_seconds)
