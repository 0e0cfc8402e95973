"""How the numbers of a scrape are put together, under one prefix."""

from collections.abc import Iterable
from datetime import datetime

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

Samples = Iterable[tuple[list[str], float]]


def gauge(name: str, text: str, labels: list[str], samples: Samples) -> Metric:
    """A number that goes up and down."""
    return _filled(GaugeMetricFamily(f"tidegate_{name}", text, labels=labels), samples)


def counter(name: str, text: str, labels: list[str], samples: Samples) -> Metric:
    """A number that only grows, as long as what it counts is there."""
    return _filled(CounterMetricFamily(f"tidegate_{name}", text, labels=labels), samples)


def newest_by_schedule(moments: Iterable[tuple[str, datetime | None]]) -> Samples:
    """For each schedule its newest moment; what no schedule made counts under an empty name."""
    newest: dict[str, float] = {}
    for schedule, moment in moments:
        if moment is not None:
            newest[schedule] = max(moment.timestamp(), newest.get(schedule, 0.0))
    return [([schedule], at) for schedule, at in sorted(newest.items())]


def _filled(family: GaugeMetricFamily | CounterMetricFamily, samples: Samples) -> Metric:
    for values, number in samples:
        family.add_metric(values, number)
    return family
