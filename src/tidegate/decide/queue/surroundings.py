"""What matters to the queue beside the backups in it."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from tidegate.decide.queue.claims import RestoreClaim
from tidegate.decide.stores.target_away import Away, all_away
from tidegate.model.setting import Settings
from tidegate.model.stores.target import BackupTarget
from tidegate.model.volumes.volume import Namespace, Volume


@dataclass(frozen=True)
class Surroundings:
    """What is not in the queue but matters to it."""

    namespaces: frozenset[str] = frozenset()
    unavailable_targets: Mapping[str, Away] = field(default_factory=dict)
    paused: bool = False
    head_start_seconds: int = 0
    volumes: Mapping[tuple[str, str], Mapping[str, str]] | None = None
    """Labels of each volume, by namespace and name; given where overlap is judged by volumes, not by namespaces."""
    restores: tuple[RestoreClaim, ...] = ()
    """Those that run, and those that wait."""

    def with_restores(self, restores: tuple[RestoreClaim, ...]) -> "Surroundings":
        """What is around when these restores are. A glob may mean a namespace that only a restore has named."""
        if not restores and not self.restores:
            return self
        written = {name.partition("/")[0] for restore in restores for name in restore.scope.names}
        return replace(self, restores=restores, namespaces=self.namespaces | written)


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
