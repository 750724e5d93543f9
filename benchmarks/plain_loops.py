"""How many matches each workload has, by loops that anybody can check by reading. Foretell is not used here.

A benchmark whose counts differ from these measures something else than it says, and is refused. The loops are plain,
not tuned: they are a truth, not a rival.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .ticks import Tick
from .workloads import W1_FACTOR, W2_LENGTH, Box, Chain, Jump, TwoStep


def w1(ticks: Iterable[Tick]) -> int:
    """Ticks above 1.01 times the one before of the same symbol. O(ticks)."""
    last: dict[str, float] = {}
    found = 0
    for name, price, _ in ticks:
        if name in last and price > W1_FACTOR * last[name]:
            found += 1
        last[name] = price
    return found


def w2(ticks: Iterable[Tick]) -> int:
    """Rising runs of at least 5 ticks: k ticks in a row that rise contain k - 4 that end where they end. O(ticks)."""
    last: dict[str, float] = {}
    risen: dict[str, int] = {}
    found = 0
    for name, price, _ in ticks:
        risen[name] = risen[name] + 1 if name in last and price > last[name] else 1
        found += max(0, risen[name] - W2_LENGTH + 1)
        last[name] = price
    return found


def w2_open(ticks: Iterable[Tick]) -> int:
    """How many of the runs of `w2` are parts of a rise that has not ended: who waits for its end does not find them."""
    rising: dict[str, list[float]] = {}
    for name, price, _ in ticks:
        own = rising.setdefault(name, [])
        if own and price <= own[-1]:
            own.clear()
        own.append(price)
    return sum(w2((name, price, 0) for price in prices) for name, prices in rising.items())


def w4(ticks: Iterable[Tick], subscriptions: Sequence[TwoStep]) -> int:
    """Pairs of a symbol's consecutive ticks with the first above c1 and the second below c2. O(ticks * N / symbols)."""
    thresholds: dict[str, list[tuple[float, float]]] = {}
    for s in subscriptions:
        thresholds.setdefault(s.symbol, []).append((s.above, s.below))
    last: dict[str, float] = {}
    found = 0
    for name, price, _ in ticks:
        if name in last:
            before = last[name]
            for above, below in thresholds.get(name, ()):
                if before > above and price < below:
                    found += 1
        last[name] = price
    return found


def w5(ticks: Iterable[Tick], subscriptions: Sequence[Box]) -> int:
    """Ticks within each box. O(ticks * N / symbols)."""
    boxes: dict[str, list[Box]] = {}
    for s in subscriptions:
        boxes.setdefault(s.symbol, []).append(s)
    found = 0
    for name, price, volume in ticks:
        for box in boxes.get(name, ()):
            if box.low <= price <= box.high and volume > box.volume:
                found += 1
    return found


def chains(ticks: Iterable[Tick], subscriptions: Sequence[Chain]) -> int:
    """A symbol's last ticks, as many as there are thresholds, each above its own. O(ticks * N * length / symbols)."""
    of: dict[str, list[tuple[float, ...]]] = {}
    for s in subscriptions:
        of.setdefault(s.symbol, []).append(s.above)
    longest = max((len(s.above) for s in subscriptions), default=1)
    seen: dict[str, list[float]] = {}
    found = 0
    for name, price, _ in ticks:
        last = seen[name] = [*seen.get(name, ()), price][-longest:]
        for above in of.get(name, ()):
            if len(last) >= len(above) and all(p > c for p, c in zip(last[-len(above) :], above)):
                found += 1
    return found


def jumps(ticks: Iterable[Tick], subscriptions: Sequence[Jump]) -> int:
    """Ticks above each factor times the one before of the same symbol. O(ticks * N)."""
    last: dict[str, float] = {}
    found = 0
    for name, price, _ in ticks:
        if name in last:
            before = last[name]
            if price > before:  # all factors are above 1
                found += sum(price > s.factor * before for s in subscriptions)
        last[name] = price
    return found
