"""All reconcilers over one store: the same in the server, in tests and in simulations of crashes."""

import asyncio
from random import Random

from tidegate import __version__
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
from tidegate.model.volumes.kept_place import KeptPlace
from tidegate.ports.clock import Clock
from tidegate.ports.hook_runner import HookRunner, NoHooks
from tidegate.ports.mover_host import MoverHost
from tidegate.ports.notifier import NoNotifier, Notifier
from tidegate.ports.scratch import NoScratch, ScratchRoom
from tidegate.ports.secrets import NoSecrets, SecretStore
from tidegate.ports.store_probe import StoreProbe
from tidegate.ports.system_archives import NoArchives, SystemArchives
from tidegate.ports.volume_probe import VolumeProbe
from tidegate.state.server_state import ServerState

# Longhorn keeps its own system backups beside ours, under its own versions.
ARCHIVE_VERSION = f"tidegate-{__version__}"


def build_runtime(
    state: ServerState,
    clock: Clock,
    movers: MoverHost,
    store_probe: StoreProbe,
    *,
    volume_probe: VolumeProbe,
    secrets: SecretStore | None = None,
    hooks: HookRunner | None = None,
    hook_supervisor: HookSupervisor | None = None,
    syncs: CatalogueSync | None = None,
    scratch: ScratchRoom | None = None,
    notifier: Notifier | None = None,
    desk: DeletionDesk | None = None,
    archives: SystemArchives | None = None,
    keep_out: tuple[KeptPlace, ...] = (),
) -> tuple[Runtime, MoverSupervisor]:
    """All reconcilers over one store, and the supervisor of their movers, which keep out of `keep_out` and stores."""
    supervisor = MoverSupervisor(movers, clock)
    takeover = Takeover(state.store, supervisor)
    hook_supervisor = hook_supervisor or HookSupervisor(hooks or NoHooks())
    checks, room = CheckRuns(hooks or NoHooks()), scratch or NoScratch()
    catalogue = syncs.catalogue if syncs else None
    store, planning = state.store, asyncio.Lock()
    known, shelf = secrets or NoSecrets(), archives or NoArchives()
    desk = desk or DeletionDesk(store)
    plans = SystemRestorePlanner(store, volume_probe, known, shelf)
    deletions = DeletionController(state, clock, supervisor, takeover, known, desk, syncs)
    targets = TargetController(store, clock, store_probe, known, syncs.catalogue if syncs else None)
    runtime = Runtime(
        state=state,
        clock=clock,
        random=Random(),  # noqa: S311  # jitter, not secrets
        reconcilers=[
            BackupQueue(state, clock, planning),
            BackupController(store, clock, BackupBlocks(store, hook_supervisor), takeover, state.queue.running),
            RestoreQueue(state, clock, planning),
            RestoreController(store, clock),
            ScheduleController(store, clock, takeover),
            VerificationLine(store, clock, room),
            VerificationController(store, clock, room, checks),
            VerificationSchedule(store, clock),
            SystemBackupController(store, clock, known, shelf, volume_probe, ARCHIVE_VERSION, catalogue),
            SystemBackupSync(store, known, shelf),
            SystemRestoreController(store, clock, known, shelf, plans),
            TransferGates(state, clock, takeover),
            TransferController(state, clock, supervisor, takeover, known, desk, targets.doubt, keep_out),
            deletions,
            MoverBandwidth(state, supervisor),
            VolumeController(store, catalogue),
            targets,
            *([syncs] if syncs else []),
            NotificationWriter(store, clock),
            NotificationCourier(store, clock, notifier or NoNotifier()),
        ],
    )
    deletions.wake = lambda ref: runtime.enqueue(deletions.name, ref)
    supervisor.wake = lambda ref: runtime.enqueue(deletions.name if ref.kind == VOLUME else "transfer", ref)
    takeover.settled = lambda: runtime.enqueue("transfer-gates", GATES)
    supervisor.others_move = lambda: runtime.enqueue("mover-bandwidth", BANDWIDTH)
    hook_supervisor.wake = lambda ref: runtime.enqueue("backup", ref)
    targets.wake = lambda ref: runtime.enqueue(targets.name, ref)
    if syncs:
        syncs.wake = lambda ref: runtime.enqueue(syncs.name, ref)
    checks.wake = lambda ref: runtime.enqueue("verification", ref)
    return runtime, supervisor
