"""The server on top of a platform: the same on a machine, in tests and in simulations of crashes."""

import asyncio
from dataclasses import dataclass
from random import Random

from tidegate import __version__
from tidegate.app.platform import Platform
from tidegate.controllers.backups.backup import BackupController
from tidegate.controllers.backups.blocks import BackupBlocks
from tidegate.controllers.backups.check_runs import CheckRuns
from tidegate.controllers.backups.hook_supervisor import HookSupervisor
from tidegate.controllers.movers.bandwidth import KEY as BANDWIDTH
from tidegate.controllers.movers.bandwidth import MoverBandwidth
from tidegate.controllers.movers.names import VOLUME
from tidegate.controllers.movers.supervisor import MoverSupervisor
from tidegate.controllers.movers.takeover import Takeover
from tidegate.controllers.notifications.courier import NotificationCourier
from tidegate.controllers.notifications.notifications import NotificationWriter
from tidegate.controllers.queue.backup_queue import BackupQueue
from tidegate.controllers.reconcile.wakes import Wakes
from tidegate.controllers.restores.queue import RestoreQueue
from tidegate.controllers.restores.restore import RestoreController
from tidegate.controllers.runtime import Runtime
from tidegate.controllers.schedules.schedule import ScheduleController
from tidegate.controllers.stores.catalogue_sync import CatalogueSync
from tidegate.controllers.stores.deletion import DeletionController
from tidegate.controllers.stores.deletion_desk import DeletionDesk
from tidegate.controllers.stores.target import TargetController
from tidegate.controllers.system.backup import SystemBackupController
from tidegate.controllers.system.backup_sync import SystemBackupSync
from tidegate.controllers.system.restore import SystemRestoreController
from tidegate.controllers.system.restore_planner import SystemRestorePlanner
from tidegate.controllers.transfers.gates import KEY as GATES
from tidegate.controllers.transfers.gates import TransferGates
from tidegate.controllers.transfers.transfer import TransferController
from tidegate.controllers.verification.line import VerificationLine
from tidegate.controllers.verification.schedule import VerificationSchedule
from tidegate.controllers.verification.verification import VerificationController
from tidegate.controllers.volumes.volume import VolumeController
from tidegate.model.resource import Ref

# Longhorn keeps its own system backups beside ours, under its own versions.
ARCHIVE_VERSION = f"tidegate-{__version__}"


@dataclass(frozen=True)
class Work:
    """All reconcilers of a server, and what others need to know of them."""

    runtime: Runtime
    movers: MoverSupervisor
    hooks: HookSupervisor
    desk: DeletionDesk
    plans: SystemRestorePlanner
    syncs: CatalogueSync | None


def build_work(platform: Platform) -> Work:
    """All reconcilers over one store; nothing begins before the runtime starts."""
    state, store, clock = platform.state, platform.store, platform.clock
    secrets, archives = platform.secrets, platform.archives
    catalogue = platform.catalogues.catalogue if platform.catalogues else None
    wakes, planning = Wakes(), asyncio.Lock()

    def on_mover_news(ref: Ref) -> None:
        wakes.wake("deletion" if ref.kind == VOLUME else "transfer", ref)

    movers = MoverSupervisor(
        platform.movers, clock, on_mover_news, others_move=lambda: wakes.wake("mover-bandwidth", BANDWIDTH)
    )
    takeover = Takeover(store, movers, settled=lambda: wakes.wake("transfer-gates", GATES))
    hooks = HookSupervisor(platform.hooks, wakes.of("backup"))
    checks = CheckRuns(platform.hooks, wakes.of("verification"))
    desk = DeletionDesk(store, catalogue)
    plans = SystemRestorePlanner(store, platform.volume_probe, secrets, archives)
    targets = TargetController(store, clock, platform.store_probe, secrets, catalogue, wakes.of("target"))
    syncs = _syncs(platform, wakes)
    runtime = Runtime(
        state,
        clock,
        Random(),  # noqa: S311  # jitter, not secrets
        [
            BackupQueue(state, clock, planning),
            BackupController(store, clock, BackupBlocks(store, hooks), takeover, state.queue.running),
            RestoreQueue(state, clock, planning),
            RestoreController(store, clock),
            ScheduleController(store, clock, takeover),
            VerificationLine(store, clock, platform.scratch),
            VerificationController(store, clock, platform.scratch, checks),
            VerificationSchedule(store, clock),
            SystemBackupController(store, clock, secrets, archives, platform.volume_probe, ARCHIVE_VERSION, catalogue),
            SystemBackupSync(store, secrets, archives),
            SystemRestoreController(store, clock, secrets, archives, plans),
            TransferGates(state, clock, takeover),
            TransferController(state, clock, movers, takeover, secrets, desk, targets.doubt, platform.keep_out),
            DeletionController(state, clock, movers, takeover, secrets, desk, syncs, wakes.of("deletion")),
            MoverBandwidth(state, movers),
            VolumeController(store, catalogue),
            targets,
            *([syncs] if syncs else []),
            NotificationWriter(store, clock),
            NotificationCourier(store, clock, platform.notifier),
        ],
        wakes,
    )
    return Work(runtime, movers, hooks, desk, plans, syncs)


def _syncs(platform: Platform, wakes: Wakes) -> CatalogueSync | None:
    if platform.catalogues is None:
        return None
    catalogue, run = platform.catalogues.catalogue, platform.catalogues.run_sync
    wake = wakes.of("catalogue-sync")
    return CatalogueSync(platform.store, platform.clock, platform.secrets, catalogue, run, wake)
