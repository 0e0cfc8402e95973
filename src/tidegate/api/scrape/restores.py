"""What restores look like to a scrape: how many there are in each phase, and why some do not move."""

from collections.abc import Iterator

from prometheus_client.core import Metric

from tidegate.api.scrape.families import gauge
from tidegate.model.reasons import Reason
from tidegate.model.restores.restore import RestorePhase
from tidegate.state.scrape_figures import ScrapeFigures

_WHY_RESTORES_WAIT = (
    Reason.PENDING_EVALUATION,
    Reason.NAMESPACE_OVERLAP_RUNNING,
    Reason.NAMESPACE_OVERLAP_QUEUED,
    Reason.RESTORES_DISABLED,
    Reason.TARGET_UNAVAILABLE,
    Reason.STORE_IDENTITY_MISSING,
    Reason.STORE_IDENTITY_CHANGED,
    Reason.DEPENDENCY,
    Reason.RESTORE_LIMIT,
    Reason.PREPARE_QUEUE_FULL,
    Reason.NODE_LOAD,
    Reason.WAITING_FOR_LOCK,
)


def restore_metrics(figures: ScrapeFigures) -> Iterator[Metric]:
    """Every phase and reason is there, at zero too: what appears only when things go wrong cannot be alerted on."""
    phases, reasons = figures.restore_phases(), figures.restore_reasons()
    yield gauge("restores", "Restores by phase.", ["phase"], [([str(one)], phases[one]) for one in RestorePhase])
    waiting = [([str(reason)], reasons[reason]) for reason in _WHY_RESTORES_WAIT]
    yield gauge("restore_queue_length", "Restores of which nothing moves yet, by reason.", ["reason"], waiting)
