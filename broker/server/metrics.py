"""Writes the broker's statistics in the Prometheus text format, by the table of metrics. Not here: counting."""

from __future__ import annotations

import platform
from collections.abc import Iterator, Mapping
from typing import Any, Final, final

from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    InfoMetricFamily,
    Metric,
)

from .. import __version__
from ..build import build
from .durations import BUCKETS
from .metric_table import BUILD, BUILD_HELP, COUNTER, HISTOGRAM, HISTOGRAM_HELP, ROWS, MetricRow

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_MICROSECONDS: Final = 1_000_000


def exposition(statistics: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The text that Prometheus scrapes."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Statistics(statistics))
    ProcessCollector(registry=registry)
    return generate_latest(registry)


@final
class _Statistics:
    def __init__(self, statistics: Mapping[str, Mapping[str, Any]]) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        about = {"version": __version__, "build": build(), "python": platform.python_version()}
        yield InfoMetricFamily(BUILD.removesuffix("_info"), BUILD_HELP, about)
        for row in ROWS:
            values = list(_values(row, self._statistics.get(row.group, {})))
            if values:
                family = CounterMetricFamily if row.kind == COUNTER else GaugeMetricFamily
                metric = family(row.metric, row.help, labels=[row.label] if row.label else [])
                for labels, value in values:
                    metric.add_metric(labels, value * row.scale)
                yield metric
        if BUCKETS in self._statistics:
            yield _histogram(self._statistics[BUCKETS], self._statistics["loop"]["request_microseconds"])


def _values(row: MetricRow, group: Mapping[str, Any]) -> Iterator[tuple[list[str], float]]:
    """The numbers of a metric with their labels; none where the broker lacks the figure."""
    if row.label:
        for name, figures in group.items():
            yield [name], figures[row.figure]
    elif type(group.get(row.figure)) in (int, float):
        yield [], group[row.figure]


def _histogram(counts: Mapping[str, int], total: int) -> Metric:
    buckets: list[tuple[str, float]] = []
    reached = 0
    for bound, count in counts.items():
        reached += count
        buckets.append(("+Inf" if bound == "more" else repr(int(bound) / _MICROSECONDS), reached))
    return HistogramMetricFamily(HISTOGRAM, HISTOGRAM_HELP, buckets=buckets, sum_value=total / _MICROSECONDS)
