"""Ends all work of a server that can no longer write down what it does."""

from dataclasses import dataclass

from tidegate.controllers.backups.hook_supervisor import HookSupervisor
from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.runtime import Runtime


@dataclass
class EmergencyStop:
    """No record can be written any more, so nothing begins, what runs ends, and no application stays frozen."""

    runtime: Runtime
    movers: MoverSupervisor
    hooks: HookSupervisor

    async def stop(self) -> None:
        """Return when nothing runs any more. May be called once."""
        await self.runtime.stop()
        # Before applications go on: what is read after that would be taken for consistent, and is not.
        await self.movers.end_all()
        await self.hooks.thaw_all()
