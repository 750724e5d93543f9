"""Completions of machines fed by hand: counts, witnesses, tuples, bindings."""

from __future__ import annotations

from collections.abc import Iterable
from math import comb

import pytest
from strategies.composite_subscriptions import lowered

from broker.automaton.constructions.composite import automaton_of, decompose
from broker.engine.executors.tuple_counts import Completion, CountingTables, Partition
from broker.events.schema import Row

SYMBOLS = "ABC"


def machine(match: str, tuples: bool = False, defined: str = "a, b, c, d: TRUE") -> CountingTables:
    return CountingTables(automaton_of(decompose(lowered(f"FROM S\n{defined}\nMATCH {match}"))), tuples)


def play(
    partition: Partition, events: Iterable[tuple[int, list[int]]], row: Row = ("A", 0, 0.0), first: int = 1
) -> list[Completion]:
    """Events as (time, operands that they satisfy); ids and positions count from `first`."""
    found: list[Completion] = []
    for number, (time, hits) in enumerate(events, first):
        if hits:
            found += partition.step(sum(1 << hit for hit in hits), row, time, number, number)
            partition.check_invariants()
    return found


def items(completion: Completion) -> list[tuple[object, ...]]:
    return [tuple(item for _, item, _ in taken) for taken in completion.tuples()]


@pytest.mark.parametrize("tuples", [False, True])
def test_an_event_does_not_extend_what_it_has_just_begun(tuples: bool) -> None:
    found = play(Partition(machine("a; b", tuples, "a, b: TRUE")), [(t, [0, 1]) for t in range(4)])
    assert [c.count for c in found] == [1, 2, 3]


def test_all_tuples_the_latest_first() -> None:
    found = play(Partition(machine("a; b", True, "a, b: TRUE")), [(1, [0]), (1, [0]), (2, [1]), (3, [1])])
    assert [items(c) for c in found] == [[(2, 3), (1, 3)], [(2, 4), (1, 4)]]


def test_a_witness_is_a_tuple_with_operands_ids_and_times() -> None:
    (found,) = play(
        Partition(machine("a; b @(t(b) - t(a) < 3)", defined="a, b: TRUE")), [(1, [0]), (4, [0]), (6, [1])]
    )
    assert found.count == 1
    assert found.witness() == ((0, 2, 4), (1, 3, 6))


def test_operands_of_branches_not_taken_are_absent() -> None:
    (found,) = play(Partition(machine("a; (b OR (c; d))", True)), [(1, [0]), (2, [2]), (3, [3])])
    assert list(found.tuples()) == [((0, 1, 1), (2, 2, 2), (3, 3, 3))]


def test_an_event_that_fits_two_branches_makes_two_tuples_and_one_completion() -> None:
    (found,) = play(Partition(machine("a; (b OR c)", True, "a, b, c: TRUE")), [(1, [0]), (2, [1, 2])])
    assert found.count == 2
    assert sorted(found.tuples()) == [((0, 1, 1), (1, 2, 2)), ((0, 1, 1), (2, 2, 2))]


def test_a_completion_stays_as_it_was_while_the_machine_goes_on() -> None:
    partition = Partition(machine("a; b; c WITHIN 50", True, "a, b, c: TRUE"))
    completions = play(partition, [(t, [0, 1, 2]) for t in range(12)])
    before = [items(c) for c in completions]
    reader = completions[5].tuples()
    next(reader)
    play(partition, [(t, [0, 1, 2]) for t in range(12, 300)], first=13)
    assert [items(c) for c in completions] == before
    assert len(list(reader)) == len(before[5]) - 1


def test_counts_are_of_any_size() -> None:
    operands = range(16)
    names = [f"o{n}" for n in operands]
    text = f"FROM S\n{', '.join(names)}: TRUE\nMATCH {'; '.join(names)} WITHIN 200"
    partition = Partition(CountingTables(automaton_of(decompose(lowered(text)))))
    (*_, last) = play(partition, [(t, list(operands)) for t in range(200)])
    assert last.count == comb(199, 15) > 2**64, "15 of the 199 events before the last one"


def test_variables_are_bound_by_value_and_null_joins_nothing() -> None:
    partition = Partition(machine("a; b", True, "a: k = $x\nb: k = $x AND w = $y"))
    found: list[Completion] = []
    rows: list[tuple[list[int], Row]] = [
        ([0], ("A", 1, 0.0)),
        ([0], ("A", None, 0.0)),
        ([0], ("A", 2, 0.0)),
        ([1], ("A", None, 0.5)),
        ([1], ("A", 2, None)),
        ([1], ("A", 2, 0.5)),
        ([0, 1], ("A", 1, 1.0)),
    ]
    for number, (hits, row) in enumerate(rows):
        found += partition.step(sum(1 << hit for hit in hits), row, number, number, number)
    assert [(c.binding, items(c)) for c in found] == [((2, 0.5), [(2, 5)]), ((1, 1.0), [(0, 6)])]


def test_branches_leave_variables_unbound() -> None:
    partition = Partition(machine("a; (b OR c)", False, "a: k = $x\nb: k = $x AND w = $y\nc: k = $x"))
    found = play(partition, [(1, [0]), (2, [1, 2])], ("A", 7, 0.5))
    assert sorted(((c.binding, c.count) for c in found), key=str) == [((7, 0.5), 1), ((7, None), 1)]


def test_an_event_of_another_binding_breaks_what_is_contiguous() -> None:
    partition = Partition(machine("a, b", defined="a, b: k = $x"))
    assert partition.step(0b1, ("A", 1, 0.0), 1, 1, 1) == []
    assert partition.step(0b1, ("A", 2, 0.0), 2, 2, 2) == []
    assert partition.step(0b10, ("A", 1, 0.0), 3, 3, 3) == []
    (found,) = partition.step(0b1, ("A", 1, 0.0), 4, 4, 4) + partition.step(0b10, ("A", 1, 0.0), 5, 5, 5)
    assert found.witness() == ((0, 4, 4), (1, 5, 5))


def test_an_event_that_nobody_wants_breaks_what_is_contiguous() -> None:
    partition = Partition(machine("a, b; c WITHIN 9", defined="a, b, c: TRUE"))
    assert play(partition, [(1, [0]), (2, []), (3, [1]), (4, [2])]) == []
    (found,) = play(partition, [(5, [0]), (6, [1]), (7, []), (8, [2])], first=5)
    assert found.count == 1


@pytest.mark.parametrize(
    ("match", "expected"),
    [
        ("s1; s2; s3 @(t(s3) - t(s1) < 5 min); s4", [1]),
        ("s1; s2; s3 @(t(s3) - t(s1) > 77 sec); s4", [1]),
        ("s1; s2; s3 @(t(s3) - t(s1) = 78 sec); s4", []),
    ],
)
def test_table_1_of_the_paper(match: str, expected: list[int]) -> None:
    partition = Partition(machine(match, defined="s1, s2, s3, s4: k = $x"))
    times = [2_290_000_000, 2_530_000_000, 2_530_000_000, 2_608_000_000]
    found = play(partition, zip(times, [[0, 1, 2], [0, 1, 2], [0, 1, 2], [3]]))
    assert [c.count for c in found] == expected
    assert all([item for _, item, _ in c.witness()] == [1, 2, 3, 4] for c in found)


def test_an_intrusion_is_counted_and_not_enumerated() -> None:
    """n denied within five minutes, then a success: n choose 3 tuples, in entries and nodes linear in n."""
    seconds = 1_000_000
    partition = Partition(machine("s1; s2; s3 @(t(s3) - t(s1) < 5 min); s4", True, "s1, s2, s3, s4: k = $x"))
    denied = 135
    found = play(partition, [*((t * seconds, [0, 1, 2]) for t in range(denied)), (denied * seconds, [3])])
    (completion,) = found
    assert completion.count == denied * (denied - 1) * (denied - 2) // 6
    figures = partition.statistics()
    assert figures["entries"] <= denied
    assert figures["nodes"] <= 3 * denied
    seen = set()
    for taken in completion.tuples():
        seen.add(taken)
    assert len(seen) == completion.count
