"""What matters to the queue beside the backups in it."""

from collections.abc import Iterable

from tidegate.decide.queue.table import Surroundings
from tidegate.decide.stores.target_away import all_away
from tidegate.model.setting import Settings
from tidegate.model.stores.target import BackupTarget
from tidegate.model.volumes.volume import Namespace, Volume


def surroundings_of(
    settings: Settings,
    namespaces: Iterable[Namespace],
    targets: Iterable[BackupTarget],
    volumes: Iterable[Volume],
) -> Surroundings:
    """As stored resources tell. A target that nobody looked at yet is not held against anybody."""
    by_volume = settings.overlap_detection == "volume"
    return Surroundings(
        namespaces=frozenset(namespace.name for namespace in namespaces),
        unavailable_targets=all_away(targets),
        paused=settings.queue_paused,
        head_start_seconds=settings.priority_head_start_seconds,
        volumes={(v.namespace, v.name): v.metadata.labels for v in volumes if not v.deleting} if by_volume else None,
    )
