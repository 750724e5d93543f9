"""A histogram of durations, constant in size and in time for each operation."""

from __future__ import annotations

from bisect import bisect_left
from typing import Any, Final, final

BOUNDS_MICROSECONDS: Final = (100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 100_000, 1_000_000, 10_000_000)
"""Upper bounds of the buckets; the last bucket has none."""

BUCKETS: Final = "publish_microseconds"
"""The name of the group of statistics with the buckets' counts by upper bound."""


@final
class Durations:
    """The counts of the buckets, and the sum of all durations in microseconds."""

    __slots__ = ("counts", "longest", "total")

    def __init__(self) -> None:
        self.counts = [0] * (len(BOUNDS_MICROSECONDS) + 1)
        self.total = 0
        self.longest = 0

    def add(self, microseconds: int) -> None:
        """Count a duration. O(buckets)."""
        self.counts[bisect_left(BOUNDS_MICROSECONDS, microseconds)] += 1
        self.total += microseconds
        self.longest = max(self.longest, microseconds)

    def quantile(self, share: float) -> int:
        """An upper bound of a quantile, in microseconds; 0 without durations. `share`: from 0 to 1."""
        rest = share * sum(self.counts)
        for bound, count in zip((*BOUNDS_MICROSECONDS, self.longest), self.counts):
            rest -= count
            if count and rest <= 0:
                return min(bound, self.longest)
        return 0

    def statistics(self) -> dict[str, Any]:
        """The numbers for reports, with the buckets as a list."""
        return {
            "batches": sum(self.counts),
            "request_microseconds": self.total,
            "request_microseconds_p50": self.quantile(0.5),
            "request_microseconds_p99": self.quantile(0.99),
            "request_microseconds_max": self.longest,
        }

    def buckets(self) -> dict[str, int]:
        """The count of each bucket, by its upper bound."""
        return dict(zip((*map(str, BOUNDS_MICROSECONDS), "more"), self.counts))
