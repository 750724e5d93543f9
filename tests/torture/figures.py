"""What a torture prints and compares: shares of sorted waits. Nothing here decides what is too much."""

from __future__ import annotations

from collections.abc import Sequence


def share(waits: Sequence[float], of: float) -> float:
    """The wait that so much of all waits are at most, e.g. 0.99; of none, 0."""
    ordered = sorted(waits)
    return ordered[min(len(ordered) - 1, int(of * len(ordered)))] if ordered else 0.0


def milliseconds(waits: Sequence[float]) -> str:
    """The median, the 99th percentile and the longest, of seconds."""
    half, most, all_ = (1_000 * share(waits, of) for of in (0.5, 0.99, 1.0))
    return f"p50 {half:.2f} ms, p99 {most:.2f} ms, longest {all_:.2f} ms, of {len(waits):,}"
