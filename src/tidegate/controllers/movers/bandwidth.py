"""Shares the bandwidth of each node among its movers that move bytes, and tells them when their share changes."""

from collections import Counter
from dataclasses import dataclass

from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.reconcile.reconciler import Next, Watch, always
from tidegate.decide.transfers.bandwidth_share import shares
from tidegate.model.resource import Ref
from tidegate.model.setting import Setting, Settings
from tidegate.state.server_state import ServerState

KEY = Ref("MoverBandwidth", "mover-bandwidth")


def bandwidth_of_each(settings: Settings, movers: int) -> tuple[int | None, int | None]:
    """Bytes per second (up, down) for each of so many movers of one node."""
    return (
        shares(settings.limit_upload_per_node, settings.limit_upload, movers),
        shares(settings.limit_download_per_node, settings.limit_download, movers),
    )


@dataclass
class MoverBandwidth:
    """One key for all movers: the share of each depends on how many there are on its node.

    Woken by a change of a setting, and by the supervisor when a mover begins to move or ends. A mover is told only what
    is new to it.
    """

    state: ServerState
    movers: MoverSupervisor
    name: str = "mover-bandwidth"
    workers: int = 1
    watches: tuple[Watch, ...] = (Watch(Setting, always(KEY)),)

    async def reconcile(self, _key: Ref) -> Next:
        """Give each its share."""
        settings = await self.state.settings()
        moving = list(self.movers.moving())
        of_each = {
            node: bandwidth_of_each(settings, movers) for node, movers in Counter(one.node for one in moving).items()
        }
        for errand in moving:
            upload, download = of_each[errand.node]
            orders = errand.orders_so_far
            if (orders.upload, orders.download) != (upload, download):
                self.movers.limit(errand, upload=upload, download=download)
        return Next.done()
