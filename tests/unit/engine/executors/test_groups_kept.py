"""What groups keep for later matches: starts in columns that are compacted in place, events in pages."""

from __future__ import annotations

import random

from broker.engine.executors.groups.kept_events import KeptEvents
from broker.engine.executors.groups.starts import Starts


def add(starts: Starts, number: int, values: list[float]) -> None:
    at = starts.open()
    for j, value in enumerate(values):
        starts.values[at + j] = value
    starts.keep(number, number)


def test_starts_are_compacted_in_place_and_give_back_room() -> None:
    chance = random.Random(3)
    starts = Starts(2)
    kept: list[tuple[int, list[float]]] = []
    number = 0
    largest = 0
    for share in (1.0, 0.5, 0.9, 0.0, 0.02, 1.0, 0.3, 0.01):
        for _ in range(chance.choice((1, 40, 300))):
            number += 1
            values = [chance.random(), chance.random()]
            add(starts, number, values)
            kept.append((number, values))
        wanted = [chance.random() < share for _ in kept]
        places = [sum(wanted[:at]) for at in range(len(wanted) + 1)]
        largest = max(largest, starts.bytes())
        assert starts.retain(wanted) == places
        kept = [each for each, stays in zip(kept, wanted) if stays]
        starts.check_invariants()
        dumped = starts.dump()
        assert dumped == {
            "values": [value for _, values in kept for value in values],
            "times": [number for number, _ in kept],
            "events": [number for number, _ in kept],
        }
        restored = Starts(2)
        restored.load(dumped)
        restored.check_invariants()
        assert restored.dump() == dumped
    assert starts.bytes() < largest / 4


def test_the_first_starts_are_dropped_by_blocks() -> None:
    chance = random.Random(5)
    starts = Starts(2)
    kept: list[tuple[int, list[float]]] = []
    number = 0
    for count, cut in ((1, 0), (40, 17), (300, 290), (3, 40), (70, 0), (5, 64), (500, 580)):
        for _ in range(count):
            number += 1
            values = [chance.random(), chance.random()]
            add(starts, number, values)
            kept.append((number, values))
        dropped = starts.drop_first(min(cut, len(kept)))
        assert dropped == min(cut, len(kept)) // 16 * 16
        kept = kept[int(dropped) :]
        starts.check_invariants()
        assert starts.dump()["events"] == [number for number, _ in kept]
        assert starts.dump()["values"] == [value for _, values in kept for value in values]
        assert starts.waiting([0.5, 0.4], 0, 0, starts.count, number) == [
            (number,) for number, (first, second) in kept if first >= 0.5 and second >= 0.4
        ]
        assert starts.oldest(10**6) == min([number for number, _ in kept], default=10**6)


def test_dropped_events_stay_in_the_page_of_results() -> None:
    events = KeptEvents()
    for number in range(1, 91):
        events.add(number, ("a", number), number, number, number)
    page = events.page
    assert not events.drop(45)  # less than half of them
    assert events.page is page
    assert events.drop(60)
    assert [events.page.number(at) for at in range(int(events.page.count))] == list(range(60, 91))
    assert events.row(77) == ("a", 77)
    events.add(91, ("a", 91), 91, 91, 91)
    assert events.page.row(31) == ("a", 91)
    assert page.count == 90
    assert page.row(page.place(9)) == ("a", 9)
    events.check_invariants()


def test_a_sweep_leaves_results_their_page() -> None:
    events = KeptEvents()
    for number in range(1, 91):
        events.add(number, ("a", number), number, number, (7, (number,)) if number % 2 else number)
    assert events.grown()
    page = events.page
    events.sweep({3, 8, 90})
    assert [events.page.number(at) for at in range(3)] == [3, 8, 90]
    assert [events.page.row(at) for at in range(3)] == [("a", 3), ("a", 8), ("a", 90)]
    assert [events.page.item(at) for at in range(3)] == [(7, (3,)), 8, 90]
    assert not events.grown()
    assert page.row(page.place(9)) == ("a", 9)
    assert page.count == 90
    restored = KeptEvents()
    restored.load(events.dump())
    assert restored.row(8) == ("a", 8)
    restored.check_invariants()
