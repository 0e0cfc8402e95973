"""Restores, verifications and volumes as what a scrape tells of them, kept up to date change by change.

Holds nothing that the stored resources do not say, and forgets what is gone.
"""

from collections import Counter
from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from tidegate.model.reasons import Reason
from tidegate.model.resource import Ref, Resource
from tidegate.model.restores.restore import Restore, RestorePhase
from tidegate.model.verification.verification import Verification, VerificationPhase
from tidegate.model.volumes.volume import Volume

KINDS: tuple[type[Resource], ...] = (Restore, Verification, Volume)


class RestoreFigure(NamedTuple):
    """What is remembered of one restore."""

    phase: RestorePhase
    reason: str
    """Why nothing of it moves yet; empty for one that moves or is over."""


class VerificationFigure(NamedTuple):
    """What is remembered of one verification."""

    phase: VerificationPhase
    schedule: str
    """Whose backup it proved; empty for one that no schedule made."""
    ended: datetime | None


class ScrapeFigures:
    """All that are stored of these kinds, whatever their phase."""

    def __init__(self) -> None:
        self._restores: dict[Ref, RestoreFigure] = {}
        self._verifications: dict[Ref, VerificationFigure] = {}
        self._last_backups: dict[Ref, datetime] = {}
        self._doubtful: set[Ref] = set()

    def restore_phases(self) -> Counter[RestorePhase]:
        """How many restores are in each phase."""
        return Counter(figure.phase for figure in self._restores.values())

    def restore_reasons(self) -> Counter[str]:
        """How many restores wait for which reason."""
        return Counter(figure.reason for figure in self._restores.values() if figure.reason)

    def verifications(self) -> list[VerificationFigure]:
        """All of them."""
        return list(self._verifications.values())

    def last_backups(self) -> list[tuple[Ref, datetime]]:
        """Volumes that have been backed up, by name, and when the newest good backup of each ended."""
        return sorted(self._last_backups.items(), key=lambda found: (found[0].namespace, found[0].name))

    def doubtful_backups(self) -> int:
        """How many volumes have a newest backup that is lost or did not restore."""
        return len(self._doubtful)

    def note(self, resource: Resource) -> None:
        """It is now like this. What is of no such kind is passed over."""
        if not isinstance(resource, KINDS):
            return
        self.forget(resource.ref)
        match resource:
            case Restore():
                self._restores[resource.ref] = RestoreFigure(resource.status.phase, _why(resource))
            case Verification():
                status = resource.status
                schedule = status.backup_schedule or resource.spec.schedule_name or ""
                figure = VerificationFigure(status.phase, schedule, status.completion_timestamp)
                self._verifications[resource.ref] = figure
            case Volume() if resource.status.last_backup_at is not None:
                self._last_backups[resource.ref] = resource.status.last_backup_at
                if resource.status.last_backup_doubt:
                    self._doubtful.add(resource.ref)

    def forget(self, ref: Ref) -> None:
        """It is gone."""
        self._restores.pop(ref, None)
        self._verifications.pop(ref, None)
        self._last_backups.pop(ref, None)
        self._doubtful.discard(ref)

    def replace_all(self, kind: str, resources: Iterable[Resource]) -> None:
        """These are all that exist of a kind."""
        for known in (self._restores, self._verifications, self._last_backups):
            for ref in [ref for ref in known if ref.kind == kind]:
                self.forget(ref)
        for resource in resources:
            self.note(resource)


def _why(restore: Restore) -> str:
    if restore.status.phase.final:
        return ""
    waiting = restore.status.condition("Waiting")
    if waiting is not None:
        return waiting.reason
    return Reason.PENDING_EVALUATION if restore.status.phase is RestorePhase.NEW else ""
