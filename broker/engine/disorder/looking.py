"""Looks at what an engine in disorder holds: its counts, its plain data for snapshots, whether its parts agree.

Not here: what changes it (reordering).
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...events.instant import FOREVER
from ...events.stream import StreamDefinition
from .reordering import Reordering
from .stream_order import StreamOrder


class HeldStream(NamedTuple):
    """A stream that others wait for, how many events of theirs wait, the time up to which all is final there, and all
    these streams, itself among them."""

    stream: str
    events: int
    safe: int
    streams: list[str]


def statistics(disorder: Reordering) -> dict[str, Any]:
    """Events that are not final, and how far the safe time is behind the newest event."""
    orders = disorder.orders.all
    behind = [each for each in map(disorder.marks.behind, orders) if each is not None]
    held = [each for each in map(held_back, orders) if each is not None]
    return {
        **({"held_back": [held_in_words(each, disorder.marks.streams[each.stream]) for each in held]} if held else {}),
        "buffered_events": sum([len(order.buffer) for order in orders]),
        "overtaken_events": sum([int(order.buffer.overtaken) for order in orders]),
        "events_ahead": sum([len(order.ahead) for order in orders]),
        "revising": len(disorder.readers.by_name),
        "finality_behind": max(behind, default=None),
        **disorder.settlement.statistics(),
        "numbers_missing": sum([numbers.missing() for numbers in disorder.checks.numbers.values()]),
        "numbers_lost": sum([numbers.lost for numbers in disorder.checks.numbers.values()]),
    }


def held_back(order: StreamOrder) -> HeldStream | None:
    """The stream that others of an order wait for; None if no event of theirs waits. O(streams)."""
    last = order.last
    events = 0 if last is None else order.buffer.of_others(last)
    return None if last is None or not events else HeldStream(last, events, order.safe, order.streams())


def held_in_words(held: HeldStream, definition: StreamDefinition, seconds: int | None = None) -> str:
    """One sentence on it, with how long by a clock, if there is one."""
    several = f"{held.events:,} events of related streams wait"
    said = "1 event of a related stream waits" if held.events == 1 else several
    since = "" if seconds is None else f" since {seconds:,} s"
    given = {"idle": definition.idle}
    if definition.disorder != "arrival":
        given = {"lateness": definition.lateness} | given
    missing = " and ".join([name for name, value in given.items() if value is None])
    ends = f": give it {missing}, or punctuate it" if missing else " until it is idle or punctuated"
    return f"{said} for stream {held.stream!r}{since}, because an earlier event may still come on it{ends}"


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
