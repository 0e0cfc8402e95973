"""Looks at this machine and at stores, in threads, for the API and the target reconciler."""

import asyncio
from collections.abc import Callable, Hashable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from tidegate.app.machine.daemon_threads import in_daemon_thread
from tidegate.app.machine.encryption_key import key_for
from tidegate.app.machine.identity import new_id
from tidegate.datapath.stored_volume import StoredVolume
from tidegate.decide.stores.identity import is_recognised, unrecognised
from tidegate.errors import NoSpace, Refused, StoreIdentityMissing, StoreUnavailable, Unauthenticated
from tidegate.format.cfgs.paths import volume_dir
from tidegate.format.trees.packed_tree import CONTENT, TREE, shown_size
from tidegate.model.restores.restore_plan import Place, StoredBackup
from tidegate.model.transfers.mover_job import TargetAccess
from tidegate.model.volumes.kept_place import KeptPlace, data_directory
from tidegate.model.volumes.volume import VolumeSpec
from tidegate.objects.backoff import HURRIED
from tidegate.objects.identity import give_identity, identity_of
from tidegate.objects.open import open_store
from tidegate.ports.object_store import Listing
from tidegate.volumes.kept_places import touched
from tidegate.volumes.measure import measure
from tidegate.volumes.places import look_with_room, users_of

T = TypeVar("T")

_ANSWER_SECONDS = 30.0
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


def _seen_at(path: str, keep_out: Sequence[KeptPlace]) -> Place:
    place = look_with_room(path)
    kept = touched(path, keep_out)
    return place.replace(in_the_way=f"it {kept.sentence}") if kept else place


class LocalSurroundings:
    """Keeps the promise of Surroundings for the machine that the server runs on."""

    def __init__(
        self,
        look: Callable[[TargetAccess], None] = list_root,
        *,
        answer_seconds: float = _ANSWER_SECONDS,
        own: Path | None = None,
    ) -> None:
        """`own` is the server's data directory, where nothing may be restored to."""
        self._own = own
        self._look = look
        self._answer_seconds = answer_seconds
        self._looks: dict[Hashable, asyncio.Future[None]] = {}

    async def check_volume(self, spec: VolumeSpec) -> int:
        """Measure it."""
        return await asyncio.to_thread(measure, spec)

    async def check_target(self, access: TargetAccess) -> None:
        """Look whether the store answers, and in time.

        A mounted share whose server is gone lets a thread hang for ever. So there is at most one look at a store under
        way, in a thread that nobody waits for at the end, and whoever asks meanwhile waits for that one.
        """
        key = (access.url, tuple(sorted(access.credentials.items())), access.identity)
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = in_daemon_thread(lambda: self._look(access), name=_LOOK)
            look.add_done_callback(lambda _: self._looks.pop(key, None))
        await self.in_time(asyncio.shield(look), access.url)

    async def identify(self, access: TargetAccess, *, volumes: Sequence[str] = ()) -> str:
        """Look, once it is known that the store answers: a hanging one is looked at by one thread only."""
        await self.check_target(access)
        return await self.in_time(in_daemon_thread(lambda: identified(access, volumes), name=_LOOK), access.url)

    async def stored_backup(self, access: TargetAccess, volume: str, backup: str) -> StoredBackup:
        """Read it, once it is known that the store answers: a hanging one is looked at by one thread only."""
        await self.check_target(access)
        return await self.in_time(in_daemon_thread(lambda: read_stored(access, volume, backup), name=_LOOK), access.url)

    async def look_at(self, path: str, *, keep_out: Sequence[KeptPlace] = ()) -> Place:
        """Look."""
        own = (data_directory(str(self._own)),) if self._own else ()
        return await asyncio.to_thread(_seen_at, path, (*own, *keep_out))

    async def users_of(self, paths: Sequence[str]) -> Mapping[str, str]:
        """Look once for all of them."""
        return await asyncio.to_thread(users_of, paths)

    async def in_time(self, answer: "asyncio.Future[T]", url: str) -> T:
        """The answer; raises StoreUnavailable if it takes too long."""
        try:
            async with asyncio.timeout(self._answer_seconds):
                return await answer
        except TimeoutError:
            raise StoreUnavailable(
                f"{url} did not answer within {self._answer_seconds:g} seconds",
                hint="if it is a mounted share, look whether its server answers",
            ) from None
