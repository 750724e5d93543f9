"""P-ToPSS's synthetic streams (6.2, figure 10): chains trained on one, notices on another. Nothing is judged here.

Subscriptions and streams are those of composite_workload. The state of a subscription is that of its most advanced
live partial match, 0 .. length, and every event of the stream is a step. What has reached a `;` waits for ever, so
that in the long run the state never falls below the last `;`, and what forecasts tell apart is how far the last term
has got.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Final, final

from broker.forecast.chain import counted_chain, shape
from broker.forecast.counts import CountTable, GenerationClock
from broker.forecast.notifying import Notifier
from broker.forecast.passage import Passage, first_passage

from ..composite_workload import Chain
from .notices import Told

STEPS: Final = (1, 2, 3, 4, 5, 7, 10)
THRESHOLDS: Final = (0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)

Entries = list[tuple[int, int]]
"""(position, state): where the state changes, and each match."""


@final
class Occurrences:
    """Where in a stream each event of the pool stands."""

    def __init__(self, events: Iterable[int], pool: int) -> None:
        self.of: list[list[int]] = [[] for _ in range(pool)]
        self.length = 0
        for at, kind in enumerate(events):
            if kind < pool:
                self.of[kind].append(at)
            self.length = at + 1


def entries(chain: Chain, stream: Occurrences) -> Entries:
    """The states of a subscription along a stream, which starts in state 0. O(events that it knows)."""
    primitives = chain.primitives
    final = len(primitives)
    ends: set[int] = set()
    for term in chain.terms[:-1]:
        ends.add(max(ends, default=0) + len(term))
    touched = sorted((at, kind) for kind in set(primitives) for at in stream.of[kind])
    found: Entries = []
    waiting = [0]
    fresh: list[int] = []
    state = 0
    last = -2
    for at, kind in touched:
        if fresh and at != last + 1:  # nothing it knows came in between: what must be contiguous is over
            fresh = []
        if last >= 0 and at != last + 1 and state != waiting[-1]:
            state = waiting[-1]
            found.append((last + 1, state))
        moved = [place + 1 for place in waiting if primitives[place] == kind]
        moved += [place + 1 for place in fresh if primitives[place] == kind]
        fresh = [place for place in moved if place not in ends and place != final]
        matched = final in moved
        for place in moved:
            if place in ends and place not in waiting:
                waiting = sorted([*waiting, place])
        now = final if matched else max([*fresh, waiting[-1]])
        if now != state or matched:
            found.append((at, now))
            state = now
        last = at
    if touched and state != waiting[-1] and last + 1 < stream.length:
        found.append((last + 1, waiting[-1]))
    return found


def trained(length: int, walked: Entries, events: int, horizon: int) -> Passage:
    """First passages of a subscription from its states along a training stream. O(entries + states x horizon)."""
    table = CountTable(GenerationClock())
    whole = [(-1, 0), *walked]
    for (begin, state), (end, following) in pairwise(whole):
        if end - begin > 1:
            table.add(state, state, end - begin - 1)
        table.add(state, following)
    end, state = whole[-1]
    if events - 1 > end:
        table.add(state, state, events - 1 - end)
    return first_passage(counted_chain(table, shape(length + 1, {length}, range(length)), smoothing=0.0), horizon)


def told(length: int, passage: Passage, walked: Entries, events: int) -> list[Told]:
    """The notices of one subscription along a test stream, for each lookahead and threshold."""
    states = range(length + 1)
    least = {s for s in states if passage.next(s, max(STEPS)) > min(THRESHOLDS)}
    relevant = _relevant(walked, least, length)
    found: list[Told] = []
    for steps in STEPS:
        said = [passage.next(state, steps) for state in states]
        for threshold in THRESHOLDS:
            watch = Notifier("benchmark", threshold, steps)
            true = false = 0
            for at, state in relevant:
                resolution = watch.matched(0, at) if state == length else watch.advance(0, at)
                if resolution is not None:
                    true += resolution.outcome is True
                    false += resolution.outcome is False
                # A match is not a partial match: what it is told of has happened.
                watch.update(0, at, at, 0.0 if state == length else said[state], state)
            resolution = watch.advance(0, events - 1)
            false += resolution is not None
            found.append(Told(threshold, steps, true, false))
    return found


def _relevant(walked: Entries, above: set[int], final: int) -> Entries:
    """The entries at which a state in `above` is entered or left, and the matches."""
    found: Entries = []
    inside = False
    for at, state in walked:
        now = state in above
        if now or inside or state == final:
            found.append((at, state))
        inside = now
    return found


def added(parts: Sequence[Sequence[Told]]) -> list[Told]:
    """The notices of all subscriptions together."""
    return [
        Told(cells[0].threshold, cells[0].steps, sum(c.true for c in cells), sum(c.false for c in cells))
        for cells in zip(*parts, strict=True)
    ]
