"""Horizons in time: how many events of a key fit into a duration, by the measured gaps between them.

A chain counts steps; `within = "5 min"` and WITHIN count time. With independent gaps, S_n the time of the n-th event
from now and f the density of the first passage, P(match within tau) = sum_n f(n) * P(S_n <= tau) (forecasting 2.8 ii).
A run that must have ended at the latest in r can use no more than min(tau, r): where n events have never fitted into
what remains, its probability is exactly 0.

Gaps are kept as additive integers like transitions: for each bucket, an eighth of an octave, how many and their sum. A
bucket stands for its mean, so that regular gaps stay exact.

Here: gaps, arrivals, probabilities within a time. Not here: the chain's own horizon (passage).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final, final

BUCKETS_AN_OCTAVE: Final = 8
CELLS: Final = 64  # of the remaining time, when gaps are summed
EVENTS_MAX: Final = 1_000  # events within a horizon; what comes later in it is left out, so forecasts are lower bounds
NEGLIGIBLE: Final = 1e-9


@final
class Gaps:
    """A histogram of the times between successive events of one key, in microseconds."""

    def __init__(self) -> None:
        self.buckets: dict[int, tuple[int, int]] = {}  # bucket -> how many, their sum
        self.count: int = 0

    def add(self, gap: int) -> None:
        """Count one gap, which is not negative. O(1)."""
        self.put(bucket_of(gap), 1, gap)

    def put(self, bucket: int, count: int, total: int) -> None:
        """Add `count` gaps of one bucket whose sum is `total`."""
        known, known_total = self.buckets.get(bucket, (0, 0))
        self.buckets[bucket] = (known + count, known_total + total)
        self.count += count

    def merge(self, other: Gaps) -> None:
        """Add all that another histogram has counted. Associative and commutative."""
        for bucket, count, total in list(other.records()):
            self.put(bucket, count, total)

    def records(self) -> Iterator[tuple[int, int, int]]:
        """bucket, count and sum, sorted: the value of the histogram."""
        for bucket in sorted(self.buckets):
            count, total = self.buckets[bucket]
            yield bucket, count, total

    def __eq__(self, other: object) -> bool:
        """Whether the same gaps were counted, in whatever order."""
        return list(self.records()) == list(other.records()) if isinstance(other, Gaps) else NotImplemented

    def __hash__(self) -> int:
        raise TypeError("histograms grow and have no hash")

    def atoms(self, pool: Gaps | None = None, strength: float = 20.0) -> list[tuple[float, float]]:
        """(gap, probability), drawn towards a larger pool that weighs `strength` gaps; [] if nothing was counted."""
        weights: dict[int, tuple[float, float]] = {b: (float(n), float(total)) for b, n, total in self.records()}
        if pool is not None and pool.count:
            scale = min(strength, pool.count) / pool.count
            for bucket, count, total in pool.records():
                known, known_total = weights.get(bucket, (0.0, 0.0))
                weights[bucket] = (known + scale * count, known_total + scale * total)
        mass = sum(weight for weight, _ in weights.values())
        return [(total / weight, weight / mass) for _, (weight, total) in sorted(weights.items())]


def bucket_of(gap: int) -> int:
    """The bucket of a gap: exact below 2 * BUCKETS_AN_OCTAVE, then eight an octave. Raises ValueError if negative."""
    if gap < 0:
        raise ValueError(f"expected a gap that is not negative, found {gap}")
    octaves = max(0, gap.bit_length() - BUCKETS_AN_OCTAVE.bit_length())
    return octaves * BUCKETS_AN_OCTAVE + (gap >> octaves)


def arrivals(atoms: Sequence[tuple[float, float]], remaining: int, events_max: int = EVENTS_MAX) -> list[float]:
    """P(S_n <= remaining) for n = 0, 1, ... as far as it is not negligible; [1.0] if nothing fits or is known.

    Sums are kept in cells of remaining / CELLS, each with its mass and its mean. O(events x CELLS x gaps' cells).
    """
    if remaining < 0:
        return [0.0]
    # Means and their sums are rounded, gaps are whole: what just fits must fit, as regular gaps often do.
    limit = remaining + 0.5
    sizes = [0.0] * (CELLS + 1)
    masses = [0.0] * (CELLS + 1)
    for gap, chance in atoms:
        if gap <= limit:
            _drop(sizes, masses, _cell(gap, remaining), gap, chance)
    steps = [(sizes[cell] / masses[cell], masses[cell]) for cell in range(CELLS + 1) if masses[cell] > 0.0]
    found = [1.0]
    sums = [(0.0, 1.0)]
    for _ in range(events_max):
        sizes = [0.0] * (CELLS + 1)
        masses = [0.0] * (CELLS + 1)
        for past, mass in sums:
            for gap, chance in steps:
                time = past + gap
                if time > limit:
                    break  # gaps ascend
                _drop(sizes, masses, _cell(time, remaining), time, mass * chance)
        sums = [(sizes[cell] / masses[cell], masses[cell]) for cell in range(CELLS + 1) if masses[cell] > 0.0]
        fits = min(sum(mass for _, mass in sums), found[-1])
        if fits < NEGLIGIBLE:
            break
        found.append(fits)
    return found


def _cell(time: float, remaining: int) -> int:
    return min(CELLS, int(time * CELLS / remaining)) if remaining > 0 else 0


def _drop(sizes: list[float], masses: list[float], cell: int, time: float, mass: float) -> None:
    sizes[cell] += time * mass
    masses[cell] += mass


def within_time(curve: Sequence[float], fits: Sequence[float]) -> float:
    """The probability of a match within a time, from a curve over steps and `arrivals` of that time. O(events).

    The curve is that of steps 0 .. N; where it is shorter than the arrivals, what lies beyond is left out.
    """
    found = curve[0] * fits[0]
    for n in range(1, min(len(curve), len(fits))):
        found += (curve[n] - curve[n - 1]) * fits[n]
    return min(max(found, 0.0), 1.0)


def usable(horizon: int | None, window_end: int | None, now: int) -> int | None:
    """How much time a forecast may count on: the horizon, and what remains of the run's window. None: no bound.

    Negative where the window has ended: nothing fits any more.
    """
    if window_end is None:
        return horizon
    remaining = window_end - now
    return remaining if horizon is None else min(horizon, remaining)
