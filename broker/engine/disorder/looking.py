"""Looks at what an engine in disorder holds: its counts, its plain data for snapshots, whether its parts agree.

Not here: what changes it (reordering).
"""

from __future__ import annotations

from typing import Any

from ...events.instant import FOREVER
from .reordering import Reordering


def statistics(disorder: Reordering) -> dict[str, Any]:
    """Events that are not final, and how far the safe time is behind the newest event."""
    orders = disorder.orders.all
    behind = [each for each in map(disorder.marks.behind, orders) if each is not None]
    return {
        "buffered_events": sum([len(order.buffer) for order in orders]),
        "overtaken_events": sum([int(order.buffer.overtaken) for order in orders]),
        "events_ahead": sum([len(order.ahead) for order in orders]),
        "revising": len(disorder.readers.by_name),
        "finality_behind": max(behind, default=None),
        **disorder.settlement.statistics(),
        "numbers_missing": sum([numbers.missing() for numbers in disorder.checks.numbers.values()]),
        "numbers_lost": sum([numbers.lost for numbers in disorder.checks.numbers.values()]),
    }


def dump(disorder: Reordering) -> Any:
    """Plain data."""
    disorder.orders.follow()
    disorder.runtime.enter(disorder.orders.first.time)
    disorder.runtime.park()
    orders = disorder.orders.all
    buffer = [event for order in orders for event in order.buffer.dump()]
    ahead = [event for order in orders for event in order.ahead.dump()]
    kept = [disorder.marks.dump(), buffer, ahead, disorder.readers.dump()]
    numbers = [[name, each.dump()] for name, each in disorder.checks.numbers.items()]
    return [*kept, disorder.settlement.dump(), numbers, disorder.orders.dump()]


def load(disorder: Reordering, data: Any) -> None:
    """The inverse, after all subscriptions have joined."""
    marks, buffer, ahead, readers, promised, counted, orders = data
    disorder.marks.load(marks)
    disorder.orders.load(orders, buffer, ahead)
    disorder.readers.load(readers)
    disorder.settlement.load(promised)
    for name, kept in counted:
        numbers = disorder.checks.numbers_of(disorder.marks.streams[name])
        assert numbers is not None
        disorder.checks.numbers[name] = numbers
        numbers.load(kept)


def check_invariants(disorder: Reordering | None) -> None:
    """Raise AssertionError if the parts contradict each other; None: there are none."""
    if disorder is None:
        return
    for order in disorder.orders.all:
        order.buffer.check_invariants()
        order.ahead.check_invariants()
        assert order.buffer.first() >= order.safe
        assert set(order.ahead.since(-FOREVER)) <= set(order.buffer.since(-FOREVER))
    disorder.readers.check_invariants()
    disorder.settlement.check_invariants()
    for numbers in disorder.checks.numbers.values():
        numbers.check_invariants()
