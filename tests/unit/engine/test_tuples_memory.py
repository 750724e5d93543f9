"""What machines keep: windows, keys, limits, snapshots."""

from __future__ import annotations

import json

import pytest
from strategies.composite_subscriptions import lowered

from broker.automaton.constructions.composite import automaton_of, decompose
from broker.engine.executors.tuple_counts import CountBounds, CountingTables, Partition
from broker.events.schema import Row


def machine(
    match: str,
    defined: str = "a, b, c: TRUE",
    tuples: bool = False,
    bounds: CountBounds | None = None,
    windows: bool = True,
) -> CountingTables:
    return CountingTables(
        automaton_of(decompose(lowered(f"FROM S\n{defined}\nMATCH {match}"))), tuples, bounds, windows
    )


def most(partition: Partition, figure: str, events: int, hits: list[int]) -> int:
    """The largest value of a figure while each event has the next time."""
    largest = 0
    for number in range(events):
        partition.step(sum(1 << hit for hit in hits), ("A", 0, 0.0), number, number, number)
        largest = max(largest, partition.statistics()[figure])
    partition.check_invariants()
    return largest


@pytest.mark.parametrize("match", ["a; b; c WITHIN 50", "a, b; c WITHIN 50", "a; b @(t(b) - t(a) < 50); c"])
def test_windows_keep_what_is_in_them(match: str) -> None:
    assert most(Partition(machine(match)), "entries", 1000, [0, 1, 2]) <= 52


@pytest.mark.parametrize("windows", [False, True])
def test_nodes_are_let_go_with_their_windows(windows: bool) -> None:
    kept = Partition(machine("a; b; c WITHIN 50", tuples=True, windows=windows))
    few = most(kept, "nodes", 600, [0, 1, 2])
    again = most(Partition(machine("a; b; c WITHIN 50", tuples=True, windows=windows)), "nodes", 3000, [0, 1, 2])
    assert again <= few + 64


def test_a_lower_bound_keeps_no_time_for_ever() -> None:
    """Once true it stays true: the cells become one (the paper's rule would lose matches or keep everything)."""
    kept = machine("a; b; c @(t(c) - t(a) > 20) @(t(c) - t(b) > 10)", windows=False)
    assert kept.method == "cells keyed by 2 times"
    assert most(Partition(kept), "cells", 2000, [0, 1, 2]) <= 4 * 20 * 10


def test_key_values_without_partial_matches_are_let_go() -> None:
    partition = Partition(machine("a; b; c WITHIN 5", "a, b, c: k = $x"))
    largest = 0
    for number in range(2000):
        partition.step(0b1, ("A", number, 0.0), number, number, number)
        largest = max(largest, partition.statistics()["bindings"])
    assert largest <= 128
    assert not partition.empty(2000, 2000)
    assert partition.empty(2010, 2010)
    assert partition.statistics()["bindings"] == 0


def test_bindings_in_states_are_let_go() -> None:
    partition = Partition(machine("a; b; c WITHIN 5", "a, b: k = $x\nc: TRUE"))
    for number in range(2000):
        partition.step(0b1, ("A", number, 0.0), number, number, number)
        assert partition.statistics()["cells"] <= 64


def test_what_cannot_begin_a_match_begins_nothing() -> None:
    partition = Partition(machine("a; b; c", "a, b, c: k = $x"))
    partition.step(0b110, ("A", 1, 0.0), 1, 1, 1)
    assert partition.statistics()["bindings"] == 0


def test_a_contiguous_beginning_is_let_go_with_the_next_event() -> None:
    partition = Partition(machine("a, b; c", "a, b, c: k = $x"))
    partition.step(0b1, ("A", 1, 0.0), 1, 1, 1)
    assert not partition.empty(1, 2)
    assert partition.empty(1, 3)


def test_the_oldest_key_values_are_given_up_and_new_ones_doubted_for_a_while() -> None:
    partition = Partition(machine("a; b WITHIN 100", "a, b: k = $x", bounds=CountBounds(bindings=4)))
    for number in range(6):
        assert partition.step(0b1, ("A", number, 0.0), number, number, number) == []
    assert (partition.statistics()["bindings"], partition.lost) == (4, 2)
    assert partition.step(0b10, ("A", 0, 0.0), 7, 7, 7) == [], "given up"
    (kept,) = partition.step(0b10, ("A", 3, 0.0), 8, 8, 8)
    assert (kept.count, kept.incomplete) == (1, False)
    assert partition.step(0b1, ("A", 1, 0.0), 9, 9, 9) == []
    (doubted,) = partition.step(0b10, ("A", 1, 0.0), 10, 10, 10)
    assert (doubted.count, doubted.incomplete) == (None, True)
    assert doubted.witness() == ((0, 9, 9), (1, 10, 10))
    assert partition.step(0b1, ("A", 1, 0.0), 200, 200, 200) == []
    (sure,) = partition.step(0b10, ("A", 1, 0.0), 201, 201, 201)
    assert (sure.count, sure.incomplete) == (1, False)


WIDE = "a; b; c; d @(t(d) - t(a) < 50) @(t(d) - t(b) > 3) @(t(d) - t(c) != 2)"


def test_wide_keys_are_limited_in_number_and_say_so() -> None:
    limited = machine(WIDE, "a, b, c, d: TRUE", bounds=CountBounds(cells=300))
    assert "limited" in limited.method
    partition = Partition(limited)
    found = []
    for number in range(40):
        found += partition.step(0b111, ("A", 0, 0.0), number, number, number)
        found += partition.step(0b1000, ("A", 0, 0.0), number, 1000 + number, 1000 + number)
        assert partition.statistics()["cells"] <= 300
        partition.check_invariants()
    assert found[0].count is not None
    assert found[-1].count is None
    assert found[-1].incomplete
    assert len(found[-1].witness()) == 4
    assert "limited" not in machine("a; b; c WITHIN 5").method


@pytest.mark.parametrize("windows", [False, True])
def test_nodes_have_a_limit(windows: bool) -> None:
    partition = Partition(machine("a; b; c", tuples=True, bounds=CountBounds(nodes=100), windows=windows))
    found = []
    for number in range(300):
        found += partition.step(0b111, ("A", 0, 0.0), number, number, number)
        assert partition.statistics()["nodes"] <= 100
    assert not found[0].incomplete
    assert found[-1].incomplete
    assert all(len(taken) == 3 for taken in found[-1].tuples())


SUBSCRIPTIONS = [
    ("a; b; c", "a, b, c: TRUE"),
    ("a; b; c WITHIN 6", "a, b, c: k = $x"),
    ("a, b; c WITHIN 6", "a, b, c: TRUE"),
    ("a, b, c @(t(c) - t(a) < 4)", "a, b, c: TRUE"),
    ("a; b @(t(b) - t(a) > 2) @(t(b) - t(a) < 9); c", "a, b, c: TRUE"),
    ("a; b; c @(t(c) - t(a) < 6) @(t(c) - t(b) > 1)", "a, b: k = $x\nc: TRUE"),
]


@pytest.mark.parametrize(("match", "defined"), SUBSCRIPTIONS)
@pytest.mark.parametrize("tuples", [False, True])
def test_a_snapshot_is_plain_data_and_goes_on_as_if_nothing_had_happened(
    match: str, defined: str, tuples: bool
) -> None:
    kept = machine(match, defined, tuples)
    partition = Partition(kept)
    for number in range(60):
        saved = partition.dump()
        plain = json.loads(json.dumps(saved))
        other = Partition(kept)
        other.load(plain)
        assert other.dump() == saved
        other.check_invariants()
        row: Row = ("A", number % 2, 0.0)
        hits = [h for h in range(3) if number % (h + 2) != 1] or [0]
        mine, theirs = (p.step(sum(1 << hit for hit in hits), row, number, number, number) for p in (partition, other))
        assert [(c.count, c.binding) for c in mine] == [(c.count, c.binding) for c in theirs]
        assert [list(c.tuples()) for c in mine] == [list(c.tuples()) for c in theirs]
        assert other.dump() == partition.dump()


def test_a_snapshot_shares_the_nodes_that_were_shared() -> None:
    kept = machine("a; b; c", tuples=True)
    partition = Partition(kept)
    for number in range(200):
        partition.step(0b11, ("A", 0, 0.0), number, number, number)
    (_, _, (_, _, archive), *_) = partition.dump()[0][0][1]
    nodes, lists = archive
    assert len(nodes) == partition.statistics()["nodes"] == 399
    assert len(lists) <= 4
