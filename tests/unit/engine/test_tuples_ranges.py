"""A time condition with two bounds: windows count and list what cells do, whatever is saved meanwhile."""

from __future__ import annotations

import random

import pytest
from strategies.composite_subscriptions import lowered

from broker.automaton.constructions.composite import automaton_of, decompose
from broker.engine.executors.tuple_counts import Completion, CountingTables, Partition
from broker.engine.executors.tuple_counts.tuples import Tuple

RANGE = "@(t(b) - t(a) >= {low}) @(t(b) - t(a) < {high})"
MATCHES = (
    f"a; b {RANGE} OR c",
    f"a; b {RANGE}; c",
    f"c; a; b {RANGE}",
    f"a; b {RANGE}; c @(t(c) - t(b) <= 4)",
    f"a; b {RANGE}; c @(t(c) - t(b) >= 2) @(t(c) - t(b) < 7)",
    f"(a; b {RANGE}) AND c",
)


@pytest.mark.parametrize("match", MATCHES)
@pytest.mark.parametrize("tuples", [False, True])
def test_a_range_in_windows_counts_as_in_cells(match: str, tuples: bool) -> None:
    chance = random.Random(match)
    windowed = 0
    for _ in range(30):
        low = chance.randint(1, 6)
        asked = match.format(low=low, high=low + chance.randint(2, 8))
        automaton = automaton_of(decompose(lowered(f"FROM S\na, b, c: TRUE\nMATCH {asked}")))
        by_windows, by_cells = (CountingTables(automaton, tuples, None, windows) for windows in (True, False))
        windowed += by_windows.windowed
        kept, known = Partition(by_windows), Partition(by_cells)
        all_of = Partition(CountingTables(automaton, True, None, windows=False))
        time = 0
        for position in range(1, 60):
            time += chance.choice([0, 1, 1, 2, 9, 20])
            mask = chance.randint(1, 7)
            found, expected = (part.step(mask, ("A",), time, position, position) for part in (kept, known))
            kept.check_invariants()
            assert [completion.count for completion in found] == [completion.count for completion in expected]
            if tuples:
                assert [listed(completion) for completion in found] == [listed(completion) for completion in expected]
            everything = all_of.step(mask, ("A",), time, position, position)
            for completion, whole in zip(found, everything, strict=True):
                assert completion.witness() in whole.tuples()
            if chance.random() < 0.2:
                assert kept.empty(time, position + 1) == known.empty(time, position + 1)
                again = Partition(by_windows)
                again.load(kept.dump())
                assert again.dump() == kept.dump()
                kept = again
    assert windowed or "AND" in match


def listed(completion: Completion) -> list[Tuple]:
    found = list(completion.tuples())
    assert len(found) == len(set(found)) == completion.count
    assert found[0] == completion.witness()
    return sorted(found)
