"""Processes of this machine that work for the server, each held by its standard input: its end is the server's end."""

import asyncio
import sys
from asyncio.subprocess import PIPE
from dataclasses import dataclass, field
from pathlib import Path

import structlog

from tidegate.app.machine.encryption_key import without_key
from tidegate.app.processes.mover_process import LONGEST_LINE, Process
from tidegate.app.processes.nursery import Trade, can_nurse
from tidegate.app.processes.nursery_client import Nursery, NurseryGone
from tidegate.app.processes.workshop import MAPS_DIR

log = structlog.get_logger(__name__)


@dataclass
class Children:
    """Has them forked by a nursery, which takes milliseconds. Movers remember their uploads in `maps`.

    Where there can be no nursery, or it cannot be reached, each is loaded by itself, which takes longer and is the same
    otherwise.
    """

    maps: Path
    nursed: bool = field(default_factory=can_nurse)
    nursery: Nursery = field(init=False)

    def __post_init__(self) -> None:
        self.nursery = Nursery(self._environment)

    async def start(self, trade: Trade) -> Process:
        """Raises OSError if the system has no room for one more."""
        return await self._nursed(trade) if self.nursed else await self._alone(trade)

    async def close(self) -> None:
        """For when all that were started have ended."""
        await self.nursery.close()

    async def _nursed(self, trade: Trade) -> Process:
        try:
            return await self.nursery.fork(trade)
        except NurseryGone as gone:
            # The next one finds a new nursery; this one need not wait for it.
            log.warning("the nursery of processes is gone; a new one is started", reason=str(gone))
            return await self._alone(trade)

    async def _alone(self, trade: Trade) -> Process:
        return await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "tidegate",
            trade.value,
            stdin=PIPE,
            stdout=PIPE,
            stderr=PIPE,
            limit=LONGEST_LINE,
            env=self._environment(),
            # A Ctrl-C on the terminal is for the server; it tells its processes what to do.
            start_new_session=True,
        )

    def _environment(self) -> dict[str, str]:
        # A person who set the variable for the server meant its movers.
        return {MAPS_DIR: str(self.maps.absolute()), **without_key()}
