"""Counting and enumerating tuples against the executable meaning, on random composite subscriptions and streams."""

from __future__ import annotations

from typing import Any, TypeAlias

from hypothesis import HealthCheck, given, note, settings
from hypothesis import strategies as st
from strategies.composite_subscriptions import histories, lowered, subscriptions

from broker.algebra.ptopss import semantics as meaning
from broker.algebra.ptopss.composite import Composite
from broker.algebra.semantics import Environment, Occurrence, holds
from broker.automaton.automaton import Automaton
from broker.automaton.constructions.composite import automaton_of, decompose
from broker.engine.executors.tuple_counts import Completion, CountingTables, Partition
from broker.engine.executors.tuple_counts.tuples import Tuple
from broker.events.errors import DefinitionError
from broker.events.schema import Row

slow = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example]
heavy = settings(max_examples=max(600, 6 * settings().max_examples), suppress_health_check=slow)
light = settings(max_examples=max(200, 2 * settings().max_examples), suppress_health_check=slow)

Found: TypeAlias = dict[tuple[int, Row], set[meaning.Assignment]]
"""By completing event and binding, the tuples."""


def compiled(composite: Composite, history: list[meaning.Event]) -> Automaton | None:
    """Its automaton; None, and no match by any reading, where its conditions contradict each other."""
    try:
        return automaton_of(decompose(composite))
    except DefinitionError as error:
        note(str(error))
        assert not meaning.tuples(composite, history)
        return None


def truth(composite: Composite, history: list[meaning.Event]) -> Found:
    found: Found = {}
    for assignment in meaning.tuples(composite, history):
        end = max(index for index in assignment if index is not None)
        found.setdefault((end, meaning.binding(composite, assignment, history)), set()).add(assignment)
    return found


def fits(composite: Composite, event: meaning.Event) -> list[int]:
    """The operands whose guards the event satisfies: what an index answers."""
    stream, time, row = event
    environment = Environment(Occurrence((*row, time), time, time, ()))
    return [
        number
        for number, operand in enumerate(composite.primitives)
        if composite.sources[operand.source].stream == stream
        and any(all(holds(atom, environment) for atom in clause) for clause in operand.guard)
    ]


class Player:
    """Hands a machine the events that concern it, partition by partition, as an engine does."""

    def __init__(self, composite: Composite, machine: CountingTables) -> None:
        self.composite = composite
        self.machine = machine
        self.partitions: dict[Row, tuple[Partition, list[int]]] = {}
        self.done = 0

    def play(self, history: list[meaning.Event], check: bool = True) -> list[tuple[int, Completion]]:
        found: list[tuple[int, Completion]] = []
        keys = {source.stream: source.key for source in self.composite.sources}
        for stream, time, row in history:
            number, self.done = self.done, self.done + 1
            key = tuple(row[position] for position in keys.get(stream, ()))
            if stream not in keys or None in key:
                continue
            partition, count = self.partitions.setdefault(key, (Partition(self.machine), [0]))
            count[0] += 1
            hits = fits(self.composite, (stream, time, row))
            if hits:
                mask = sum(1 << hit for hit in hits)
                found += [(number, c) for c in partition.step(mask, row, time, count[0], number)]
            if check:
                partition.check_invariants()
        return found


def typed(composite: Composite, binding: Row) -> Row:
    types = [attribute.type for attribute in composite.result_schema.attributes]
    return tuple(float(v) if t == "float" and isinstance(v, int) else v for t, v in zip(types, binding))


def assignment(composite: Composite, taken: Tuple, history: list[meaning.Event]) -> Any:
    found: list[int | None] = [None] * len(composite.primitives)
    for operand, item, time in taken:
        assert isinstance(item, int)
        assert history[item][1] == time
        found[operand] = item
    return tuple(found)


def judge(composite: Composite, history: list[meaning.Event], found: list[tuple[int, Completion]], every: bool) -> None:
    """One completion an event and binding, with the exact count, a witness, and, where asked, every tuple once."""
    expected = truth(composite, history)
    seen = {(end, typed(composite, c.binding)): c for end, c in found}
    assert len(seen) == len(found)
    assert {key: c.count for key, c in seen.items()} == {key: len(tuples) for key, tuples in expected.items()}
    for key, completion in seen.items():
        assert not completion.incomplete
        assert assignment(composite, completion.witness(), history) in expected[key]
        made = [assignment(composite, taken, history) for taken in completion.tuples()]
        if every:
            assert len(made) == len(expected[key])
            assert set(made) == expected[key]
        else:
            assert set(made) <= expected[key]


@heavy
@given(subscriptions(), histories(), st.booleans(), st.booleans())
def test_machines_count_and_find_what_the_semantics_says(
    text: str, history: list[meaning.Event], every: bool, windows: bool
) -> None:
    composite = lowered(text)
    automaton = compiled(composite, history)
    if automaton is None:
        return
    machine = CountingTables(automaton, tuples=every, windows=windows)
    note(f"{text}\n{machine.method}")
    judge(composite, history, Player(composite, machine).play(history), every)


@light
@given(subscriptions(), histories(most=40), st.booleans())
def test_all_methods_count_what_cells_count(text: str, history: list[meaning.Event], every: bool) -> None:
    """On streams too long for the meaning itself."""
    composite = lowered(text)
    try:
        automaton = automaton_of(decompose(composite))
    except DefinitionError:
        return
    chosen, general = CountingTables(automaton, tuples=every), CountingTables(automaton, windows=False)
    note(f"{text}\n{chosen.method}")
    found = Player(composite, chosen).play(history)
    expected = Player(composite, general).play(history, check=False)
    assert counts(found) == counts(expected)
    for end, completion in found:
        taken = assignment(composite, completion.witness(), history)
        placed = {operand: index for operand, index in enumerate(taken) if index is not None}
        assert max(placed.values()) == end
        assert meaning.accepted(composite, placed, history)
        if every and (completion.count or 0) < 1000:
            assert len(set(completion.tuples())) == completion.count


def counts(found: list[tuple[int, Completion]]) -> dict[tuple[int, Row], int | None]:
    return {(end, completion.binding): completion.count for end, completion in found}


@light
@given(subscriptions(), histories(most=20), st.booleans(), st.booleans(), st.data())
def test_a_snapshot_or_a_sweep_at_any_point_changes_nothing(
    text: str, history: list[meaning.Event], every: bool, windows: bool, data: st.DataObject
) -> None:
    composite = lowered(text)
    try:
        machine = CountingTables(automaton_of(decompose(composite)), tuples=every, windows=windows)
    except DefinitionError:
        return
    whole, parts = Player(composite, machine), Player(composite, machine)
    expected = whole.play(history, check=False)
    at = data.draw(st.integers(0, len(history)))
    found = parts.play(history[:at])
    for key, (partition, count) in list(parts.partitions.items()):
        restored = Partition(machine)
        restored.load(partition.dump())
        assert restored.dump() == partition.dump()
        if data.draw(st.booleans()) and restored.empty(history[at - 1][1], count[0] + 1):
            restored = Partition(machine)
        parts.partitions[key] = (restored, count)
    found += parts.play(history[at:])
    assert counts(found) == counts(expected)
    assert [list(c.tuples())[:50] for _, c in found] == [list(c.tuples())[:50] for _, c in expected]
