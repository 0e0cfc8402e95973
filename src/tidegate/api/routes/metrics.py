"""Metrics that cannot lie: counted from stored phases at each scrape, so no series outlives its object."""

from collections.abc import Iterable, Iterator, Mapping
from typing import TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from tidegate.api.reads.queue_looks import reasons_now
from tidegate.api.scrape.families import gauge
from tidegate.api.scrape.restores import restore_metrics
from tidegate.api.scrape.schedules import schedule_metrics
from tidegate.api.scrape.system import system_metrics
from tidegate.api.scrape.transfers import gate_families
from tidegate.api.scrape.verification import verification_metrics
from tidegate.api.services import Services
from tidegate.model.backups.backup import BackupPhase
from tidegate.model.reasons import Reason
from tidegate.model.schedules.schedule import Schedule
from tidegate.model.stores.target import BackupTarget
from tidegate.model.system.system import SystemBackup
from tidegate.model.system.system_restore import SystemRestore
from tidegate.model.transfers.transfer import TransferPhase

P = TypeVar("P", bound=str)

_WHY_BACKUPS_WAIT = (
    Reason.PENDING_EVALUATION,
    Reason.CONCURRENCY_LIMIT,
    Reason.NAMESPACE_OVERLAP_RUNNING,
    Reason.NAMESPACE_OVERLAP_QUEUED,
    Reason.TARGET_UNAVAILABLE,
    Reason.STORE_IDENTITY_MISSING,
    Reason.STORE_IDENTITY_CHANGED,
    Reason.PAUSED,
)


class _Once:
    """A registry wants a collector; this one hands out what was already collected."""

    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        return iter(self._families)


async def render_metrics(services: Services) -> tuple[bytes, str]:
    """The scrape's body and its content type."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Once([family async for family in _families(services)]))
    return generate_latest(registry), CONTENT_TYPE_LATEST


async def _families(services: Services):  # type: ignore[no-untyped-def]  # noqa: ANN202  # an async generator of Metric
    store = services.store
    state = services.state
    figures, transfers, scrapes = state.backup_figures, state.transfer_figures, state.scrape_figures
    yield gauge("build_info", "The server's version.", ["version"], [([services.version], 1)])
    yield _phases("backups", "Backups by phase.", BackupPhase, figures.phases)
    for family in restore_metrics(scrapes):
        yield family
    yield _phases("transfers", "Transfers by phase.", TransferPhase, transfers.phases)
    yield gauge("transfers_stalled", "Transfers that make no progress.", [], [([], transfers.stalled)])
    for family in _queue(services, await reasons_now(services)):
        yield family
    for family in await gate_families(services):
        yield family
    for family in schedule_metrics((await store.list(Schedule)).items, figures, now=services.clock.now()):
        yield family
    for family in verification_metrics(scrapes.verifications()):
        yield family
    for family in system_metrics((await store.list(SystemBackup)).items, (await store.list(SystemRestore)).items):
        yield family
    yield gauge("store_up", "Whether a target answered.", ["store"], await _targets(services))
    moving = [([direction], number) for direction, number in sorted(transfers.moving_bytes.items())]
    yield gauge("bytes_moving", "Bytes of running transfers that are done.", ["direction"], moving)
    yield gauge(
        "volume_last_backup_timestamp_seconds",
        "When the newest finished backup of a volume ended.",
        ["namespace", "volume"],
        [([volume.namespace, volume.name], ended.timestamp()) for volume, ended in scrapes.last_backups()],
    )
    yield gauge(
        "volumes_with_doubtful_backup",
        "Volumes whose newest backup is lost or did not restore.",
        [],
        [([], scrapes.doubtful_backups())],
    )
    errors = CounterMetricFamily("tidegate_reconcile_errors", "Failed reconciles.", labels=["reconciler"])
    for name, count in sorted(services.reconcile_errors().items()):
        errors.add_metric([name], count)
    yield errors


def _phases(name: str, text: str, phases: Iterable[P], counts: Mapping[P, int]) -> Metric:
    """Every phase is there, at zero too: a series that appears only when things go wrong cannot be alerted on."""
    return gauge(name, text, ["phase"], [([str(phase)], counts.get(phase, 0)) for phase in phases])


def _queue(services: Services, waiting: Mapping[str, int]) -> Iterator[Metric]:
    figures, table = services.state.backup_figures, services.state.queue
    lengths = [([str(reason)], waiting.get(str(reason), 0)) for reason in _WHY_BACKUPS_WAIT]
    yield gauge("queue_length", "Queued backups by reason.", ["reason"], lengths)
    since = figures.queued_since()
    oldest = (services.clock.now() - since).total_seconds() if since else 0.0
    yield gauge("queue_oldest_wait_seconds", "How long the oldest queued backup waits.", [], [([], oldest)])
    yield gauge("queue_running", "Backups that hold a slot of concurrent-backups.", [], [([], len(table.running()))])
    waits = HistogramMetricFamily("tidegate_queue_wait_seconds", "How long the stored backups waited for their start.")
    waits.add_metric([], *figures.waits())
    yield waits
    decisions = CounterMetricFamily("tidegate_queue_decisions", "What the queue decided.", labels=["outcome"])
    for outcome, count in sorted(services.state.queue_decisions.items()):
        decisions.add_metric([outcome], count)
    yield decisions


async def _targets(services: Services) -> list[tuple[list[str], float]]:
    targets = (await services.store.list(BackupTarget)).items
    return [([t.name], float(t.status.available)) for t in targets if t.status.available is not None]
