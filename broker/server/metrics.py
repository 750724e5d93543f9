"""Writes the broker's statistics in the Prometheus text format. Not here: counting.

A number becomes `foretell_GROUP_NAME`: a counter if it only grows, otherwise a gauge. Other values are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, final

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric

from ..wire import WHEN_SLOW
from .durations import BUCKETS

CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"

_GROWING: Final = frozenset(
    (
        ("broker", "events"),
        ("broker", "batches"),
        ("broker", "batches_repeated"),
        ("broker", "batches_expired"),
        ("broker", "events_withdrawn"),
        ("broker", "punctuations"),
        ("broker", "updates"),
        ("broker", "retractions"),
        ("broker", "clock_punctuations"),
        ("broker", "events_refused_late"),
        ("broker", "events_refused_early"),
        ("broker", "events_refused_duplicate"),
        ("broker", "results"),
        ("broker", "notifications_sent"),
        ("broker", "notifications_missed"),
        *(("broker", f"notifications_missed_{policy}") for policy in WHEN_SLOW),
        ("broker", "subscriptions_ended_slow"),
        ("broker", "notifications_redelivered"),
        ("broker", "results_refused"),
        ("broker", "results_given_up"),
        ("broker", "garbled"),
        ("broker", "denied"),
        ("engine", "events"),
        ("engine", "matches"),
        ("engine", "runs_begun"),
        ("engine", "speculative_repairs"),
        ("broker", "sessions_displaced"),
        ("loop", "keys_denied"),
        ("loop", "connections_postponed"),
        ("loop", "silent_connections_ended"),
        ("journal", "syncs"),
        ("journal", "refused_full"),
        ("journal", "checkpoints_made"),
        ("journal", "checkpoints_refused"),
    )
)
_MICROSECONDS: Final = 1_000_000


def exposition(statistics: Mapping[str, Mapping[str, Any]]) -> bytes:
    """The text that Prometheus scrapes."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Statistics(statistics))
    return generate_latest(registry)


@final
class _Statistics:
    def __init__(self, statistics: Mapping[str, Mapping[str, Any]]) -> None:
        self._statistics = statistics

    def collect(self) -> Iterator[Metric]:
        for group, numbers in self._statistics.items():
            if group == BUCKETS:
                total = self._statistics["loop"]["request_microseconds"]
                yield _histogram(numbers, total)
                continue
            for name, value in numbers.items():
                if type(value) not in (int, float) or name.startswith("request_microseconds"):
                    continue
                words = f"{name.replace('_', ' ')} of the {group}"
                if (group, name) in _GROWING:
                    yield CounterMetricFamily(f"foretell_{group}_{name}", words, value=value)
                else:
                    yield GaugeMetricFamily(f"foretell_{group}_{name}", words, value=value)


def _histogram(counts: Mapping[str, int], total: int) -> Metric:
    buckets: list[tuple[str, float]] = []
    reached = 0
    for bound, count in counts.items():
        reached += count
        buckets.append(("+Inf" if bound == "more" else repr(int(bound) / _MICROSECONDS), reached))
    words = "from a batch of events to its answer"
    return HistogramMetricFamily("foretell_publish_seconds", words, buckets=buckets, sum_value=total / _MICROSECONDS)
