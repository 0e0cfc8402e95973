"""Looks at this machine and at stores, in threads, for the API and the target reconciler."""

import asyncio
import threading
from collections.abc import Callable, Hashable
from contextlib import suppress

from tidegate.errors import StoreUnavailable
from tidegate.model.mover_job import TargetAccess
from tidegate.model.volume import VolumeSpec
from tidegate.objects.backoff import HURRIED
from tidegate.objects.open import open_store
from tidegate.volumes.measure import measure

_ANSWER_SECONDS = 30.0


def list_root(access: TargetAccess) -> None:
    """Open the store and list its root: what the first backup will do."""
    open_store(access, patience=HURRIED).list_level("")


class LocalSurroundings:
    """Keeps the promise of Surroundings for the machine that the server runs on."""

    def __init__(
        self, look: Callable[[TargetAccess], None] = list_root, *, answer_seconds: float = _ANSWER_SECONDS
    ) -> None:
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
        key = (access.url, tuple(sorted(access.credentials.items())))
        look = self._looks.get(key)
        if look is None:
            look = self._looks[key] = _in_thread(lambda: self._look(access))
            look.add_done_callback(lambda _: self._looks.pop(key, None))
        try:
            await asyncio.wait_for(asyncio.shield(look), self._answer_seconds)
        except TimeoutError:
            raise StoreUnavailable(
                f"{access.url} did not answer within {self._answer_seconds:g} seconds",
                hint="if it is a mounted share, look whether its server answers",
            ) from None


def _in_thread(work: Callable[[], None]) -> "asyncio.Future[None]":
    loop = asyncio.get_running_loop()
    outcome: asyncio.Future[None] = loop.create_future()

    def tell(error: BaseException | None) -> None:
        if outcome.cancelled():
            return
        if error is None:
            outcome.set_result(None)
        else:
            outcome.set_exception(error)
            outcome.exception()  # seen: whoever asked may have given up waiting

    def run() -> None:
        error: BaseException | None = None
        try:
            work()
        except Exception as raised:  # noqa: BLE001  raised again where it is awaited
            error = raised
        with suppress(RuntimeError):  # the server has ended meanwhile
            loop.call_soon_threadsafe(tell, error)

    threading.Thread(target=run, daemon=True, name="look at a store").start()
    return outcome
