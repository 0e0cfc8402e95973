"""What verifications tell to those who watch over them: when it was last proven that a schedule's backups restore.

The alert that matters is on the time of the last success: it also fires when nobody verifies any more.
"""

from collections.abc import Iterable, Iterator, Sequence

from prometheus_client.core import Metric

from tidegate.api.scrape.families import Samples, gauge, newest_by_schedule
from tidegate.model.verification.verification import VerificationPhase
from tidegate.state.scrape_figures import VerificationFigure

_FAILED = frozenset({VerificationPhase.FAILED, VerificationPhase.FAILED_VALIDATION})


def verification_metrics(verifications: Sequence[VerificationFigure]) -> Iterator[Metric]:
    """Of those that are stored; backups that no schedule made count under an empty name."""
    phases = [([str(phase)], _count(verifications, phase)) for phase in VerificationPhase]
    yield gauge("verifications", "Verifications by phase.", ["phase"], phases)
    yield gauge(
        "verification_last_success_timestamp_seconds",
        "When it was last proven that a backup of the schedule restores.",
        ["schedule"],
        _newest(one for one in verifications if one.phase is VerificationPhase.COMPLETED),
    )
    yield gauge(
        "verification_last_failure_timestamp_seconds",
        "When a backup of the schedule was last found not to restore, or could not be tried.",
        ["schedule"],
        _newest(one for one in verifications if one.phase in _FAILED),
    )


def _count(verifications: Iterable[VerificationFigure], phase: VerificationPhase) -> float:
    return float(sum(one.phase is phase for one in verifications))


def _newest(verifications: Iterable[VerificationFigure]) -> Samples:
    return newest_by_schedule((one.schedule, one.ended) for one in verifications)
