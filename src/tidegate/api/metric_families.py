"""How the numbers of a scrape are put together, under one prefix."""

from collections.abc import Iterable

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

Samples = Iterable[tuple[list[str], float]]


def gauge(name: str, text: str, labels: list[str], samples: Samples) -> Metric:
    """A number that goes up and down."""
    return _filled(GaugeMetricFamily(f"tidegate_{name}", text, labels=labels), samples)


def counter(name: str, text: str, labels: list[str], samples: Samples) -> Metric:
    """A number that only grows, as long as what it counts is there."""
    return _filled(CounterMetricFamily(f"tidegate_{name}", text, labels=labels), samples)


def _filled(family: GaugeMetricFamily | CounterMetricFamily, samples: Samples) -> Metric:
    for values, number in samples:
        family.add_metric(values, number)
    return family
