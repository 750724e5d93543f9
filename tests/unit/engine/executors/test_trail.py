"""Trails: the ring has the events of the newest epochs, whatever came, as a list would."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from broker.engine.executors.trail import KeyTrail

MANY = settings(max_examples=6 * settings().max_examples)


def epochs(events: list[tuple[int, int, bool]]) -> list[list[int]]:
    """The numbers of events by epoch. `events`: number, time, whether the epoch before was closed."""
    found: list[list[int]] = []
    now: int | None = None
    for number, time, closed in events:
        if now is None or time > now or closed:
            found.append([])
            now = time
        found[-1].append(number)
    return found


@MANY
@given(
    st.lists(st.tuples(st.sampled_from((0, 0, 1, 3)), st.integers(0, 9)), max_size=60),
    st.lists(st.integers(2, 5), min_size=1, max_size=2),
)
def test_a_trail_has_the_newest_epochs(steps: list[tuple[int, int]], depths: list[int]) -> None:
    trail = KeyTrail(1 << 40)
    trail.deepen(depths[0])
    events: list[tuple[int, int, bool]] = []
    time = 0
    for number, (step, chance) in enumerate(steps, 1):
        if number == 20:
            trail.deepen(depths[-1])
        time += step
        closed = chance == 0
        if closed:
            trail.close()
        trail.add((number,), time, time, number)
        events.append((number, time, closed))
        trail.check_invariants()
        # A trail that has become deeper does not have again what it did not keep.
        depth = depths[0] if number < 40 else max(depths)
        expected = epochs(events)
        assert trail.epoch == len(expected)
        for epoch in expected[-depth:]:
            for each in epoch:
                assert trail.least() <= each
                at = each & trail.mask
                assert trail.rows[at] == (each,)
                assert trail.items[at] == each
                assert trail.first[at] == epoch[0]
                assert trail.times[at] == events[each - 1][1]


def test_a_trail_drops_what_is_too_much() -> None:
    trail = KeyTrail(10)
    trail.deepen(2)
    for number in range(1, 31):
        trail.add((number,), 5, 5, number)
    assert trail.overflows == 1
    assert trail.number - trail.least() < 20
