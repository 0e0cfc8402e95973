"""Metrics that cannot lie: counted from stored phases at each scrape, so no series outlives its object."""

from collections import Counter
from collections.abc import Iterable, Iterator

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from tidegate.api.services import Services
from tidegate.model.backup import Backup, BackupPhase
from tidegate.model.resource import Status
from tidegate.model.restore import Restore, RestorePhase
from tidegate.model.target import BackupTarget
from tidegate.model.transfer import TRANSFERS, Transfer, TransferPhase
from tidegate.model.volume import Volume


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
    backups = (await store.list(Backup)).items
    restores = (await store.list(Restore)).items
    transfers = [transfer for kind in TRANSFERS for transfer in (await store.list(kind)).items]
    yield _gauge("build_info", "The server's version.", ["version"], [([services.version], 1)])
    yield _phases("backups", "Backups by phase.", BackupPhase, [b.status.phase for b in backups])
    yield _phases("restores", "Restores by phase.", RestorePhase, [r.status.phase for r in restores])
    yield _phases("transfers", "Transfers by phase.", TransferPhase, [t.status.phase for t in transfers])
    waiting = Counter(_reason(b.status) for b in backups if b.status.phase is BackupPhase.QUEUED)
    yield _gauge("queue_length", "Queued backups by reason.", ["reason"], [([k], v) for k, v in waiting.items()])
    queued_since = [b.status.queued_at for b in backups if b.status.phase is BackupPhase.QUEUED and b.status.queued_at]
    oldest = (services.clock.now() - min(queued_since)).total_seconds() if queued_since else 0.0
    yield _gauge("queue_oldest_wait_seconds", "How long the oldest queued backup waits.", [], [([], oldest)])
    yield _gauge("store_up", "Whether a target answered.", ["store"], await _targets(services))
    yield _gauge("bytes_moving", "Bytes of running transfers that are done.", ["direction"], _moving(transfers))
    volumes = (await store.list(Volume)).items
    yield _gauge(
        "volume_last_backup_timestamp_seconds",
        "When the newest finished backup of a volume ended.",
        ["namespace", "volume"],
        [([v.namespace, v.name], v.status.last_backup_at.timestamp()) for v in volumes if v.status.last_backup_at],
    )
    errors = CounterMetricFamily("tidegate_reconcile_errors", "Failed reconciles.", labels=["reconciler"])
    for name, count in sorted(services.reconcile_errors().items()):
        errors.add_metric([name], count)
    yield errors


def _gauge(name: str, text: str, labels: list[str], samples: Iterable[tuple[list[str], float]]) -> Metric:
    family = GaugeMetricFamily(f"tidegate_{name}", text, labels=labels)
    for values, number in samples:
        family.add_metric(values, number)
    return family


def _phases(name: str, text: str, phases: Iterable[str], found: Iterable[str]) -> Metric:
    """Every phase is there, at zero too: a series that appears only when things go wrong cannot be alerted on."""
    counts = Counter(map(str, found))
    return _gauge(name, text, ["phase"], [([str(phase)], counts[str(phase)]) for phase in phases])


def _reason(status: Status) -> str:
    waiting = status.condition("Waiting")
    return waiting.reason if waiting else "PendingEvaluation"


async def _targets(services: Services) -> list[tuple[list[str], float]]:
    targets = (await services.store.list(BackupTarget)).items
    return [([t.name], float(t.status.available)) for t in targets if t.status.available is not None]


def _moving(transfers: list[Transfer]) -> list[tuple[list[str], float]]:
    done: Counter[str] = Counter(upload=0, download=0)
    for transfer in transfers:
        if transfer.status.phase.moving and transfer.status.progress:
            done[transfer.direction] += transfer.status.progress.bytes_done
    return [([direction], number) for direction, number in sorted(done.items())]
