"""AFA: what the speculative executor inserts, less what it withdraws, is the meaning, whatever the order of arrival."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from strategies.afa import (
    NUMBERS,
    SCHEMA,
    Insertion,
    Punctuation,
    Update,
    Withdrawal,
    arc_texts,
    number_texts,
    query_texts,
    scripts,
    waiting_texts,
    with_numbers,
    without_ends,
)

from broker.algebra.afa.lowering import lower, lower_arcs
from broker.algebra.afa.register_automaton import NEVER_ENDED, RegisterAutomaton
from broker.algebra.afa.semantics import LivingEvent, results
from broker.automaton.constructions.registers import automaton_of_registers
from broker.engine.executors.speculative.saving import dump, load
from broker.engine.executors.speculative.speculation import Speculation, SpeculationSwitches
from broker.events.schema import Schema
from broker.language.afa import parse, parse_arc

Told = tuple[str, tuple[object, ...], int, int, tuple[int, ...]]


def typed(text: str, schema: Schema = SCHEMA) -> RegisterAutomaton:
    return lower(parse(text), text, {"S": schema}.get, lambda: ["S"])


class ToldResults:
    """What has been inserted and not withdrawn; nothing is inserted twice, nothing withdrawn that is not there."""

    def __init__(self, speculation: Speculation) -> None:
        self.speculation = speculation
        self.live: set[Told] = set()
        self.told = 0

    def settle(self) -> None:
        automaton, changes = self.speculation.automaton, self.speculation.settle()
        for at in map(changes.place, range(changes.left)):
            name = automaton.operands[int(changes.state(at)) - automaton.final]
            end = int(changes.start(at) + self.speculation.within)
            result = (name, changes.registers(at), int(changes.time(at)), end, tuple(changes.lineage_of(at)))
            self.told += 1
            if changes.inserted(at):
                assert result not in self.live
                self.live.add(result)
            else:
                assert result in self.live
                self.live.remove(result)
        self.speculation.check_invariants()


def meant(registers: RegisterAutomaton, events: list[LivingEvent]) -> list[Told]:
    found = results(registers, events)
    return [
        (registers.states[one.state], one.registers, one.begin, one.end if registers.within else one.begin, one.lineage)
        for one in found
    ]


def without_end(registers: RegisterAutomaton, told: set[Told]) -> list[Told]:
    """What lives for ever has no end to compare."""
    return [each if registers.within else (*each[:3], each[2], each[4]) for each in told]


def play(
    registers: RegisterAutomaton, batches: list[list[Any]], saved: bool = False, **switches: Any
) -> tuple[RegisterAutomaton, dict[int, LivingEvent], ToldResults]:
    speculation = Speculation(automaton_of_registers(registers), switches=SpeculationSwitches(**switches))
    told = ToldResults(speculation)
    events: dict[int, LivingEvent] = {}
    newest = 0
    for batch in batches:
        for step in batch:
            match step:
                case Insertion(event):
                    speculation.take(event.stream, event.time, event.id, event.id, (*event.row, event.time))
                    events[event.id] = event
                    newest = max(newest, event.time)
                case Withdrawal(id):
                    event = events.pop(id)
                    kept = len(registers.sources[0].key) == 0 or event.row[0] is not None
                    assert speculation.retract(event.stream, event.time, id, event.row) == kept
                    assert not speculation.retract(event.stream, event.time, id, event.row)
                case Punctuation(time):
                    speculation.punctuate(time)
                case Update(arc, begin, end):
                    first = newest + 1 if begin is None else begin
                    last = NEVER_ENDED if end is None else end
                    if ":" in arc:
                        registers = registers.inserted(lower_arcs(registers, parse_arc(arc), arc), first, last)
                    else:
                        registers = registers.deleted(arc, first, last)
                    speculation.write(automaton_of_registers(registers).arcs, first, last)
        told.settle()
        if saved:
            told.speculation = Speculation(automaton_of_registers(registers), switches=SpeculationSwitches(**switches))
            load(told.speculation, dump(speculation))
            told.speculation.settle()  # told before
            speculation = told.speculation
    return registers, events, told


@given(query_texts(), scripts())
def test_inserted_less_withdrawn_is_the_meaning(text: str, batches: list[list[Any]]) -> None:
    registers, events, told = play(typed(text), batches)
    found, wanted = without_end(registers, told.live), meant(registers, list(events.values()))
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


@given(waiting_texts(), scripts().map(without_ends))
def test_runs_that_wait_are_what_they_would_be_in_blocks(text: str, batches: list[list[Any]]) -> None:
    registers, events, told = play(typed(text), batches)
    found, wanted = without_end(registers, told.live), meant(registers, list(events.values()))
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


@given(
    query_texts() | waiting_texts(),
    scripts().map(without_ends),
    st.booleans(),
    st.booleans(),
    st.sampled_from((0, 4_096)),
    st.sampled_from((0, 1, 3)),
)
def test_no_switch_changes_what_is_left(
    text: str, batches: list[list[Any]], sharing: bool, waiting: bool, slack: int, classes: int
) -> None:
    _, _, plain = play(typed(text), batches, sharing=False, waiting=False)
    _, _, told = play(typed(text), batches, sharing=sharing, waiting=waiting, slack=slack, classes_max=classes)
    assert told.live == plain.live


@given(number_texts(), scripts(updates=False).map(with_numbers), st.booleans(), st.sampled_from((0, 1)))
def test_classes_by_regions_are_those_by_conditions(
    text: str, batches: list[list[Any]], cutting: bool, classes: int
) -> None:
    registers, events, told = play(typed(text, NUMBERS), batches, cutting=cutting, classes_max=classes)
    found, wanted = without_end(registers, told.live), meant(registers, list(events.values()))
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))


@given(query_texts() | waiting_texts(), scripts().map(without_ends), st.booleans())
def test_what_is_saved_goes_on_as_if_it_had_not_been(text: str, batches: list[list[Any]], waiting: bool) -> None:
    _, _, plain = play(typed(text), batches)
    _, _, told = play(typed(text), batches, saved=True, waiting=waiting)
    assert told.live == plain.live
    assert told.speculation.statistics()["speculative_events"] == plain.speculation.statistics()["speculative_events"]


@given(query_texts(), scripts(updates=False))
def test_what_is_found_does_not_depend_on_how_events_are_batched(text: str, batches: list[list[Any]]) -> None:
    _, _, apart = play(typed(text), [[step] for batch in batches for step in batch])
    _, _, together = play(typed(text), [[step for batch in batches for step in batch]])
    assert apart.live == together.live
    assert together.told == len(together.live)


@st.composite
def late_changes(draw: st.DrawFn) -> list[Any]:
    """Changes of arcs for events that have come."""
    changes = []
    for number in range(draw(st.integers(1, 3))):
        arc = draw(st.sampled_from(("n0", "n1", "a0", "l0", "e0", "e0")) | arc_texts(f"u{number}", False))
        begin = draw(st.integers(0, 10))
        changes.append(Update(arc, begin, draw(st.none() | st.integers(begin + 1, begin + 8))))
    return changes


@given(
    waiting_texts() | query_texts(), scripts(updates=False),
    late_changes().map(lambda changes: without_ends([changes])[0]),
)  # fmt: skip
def test_arcs_that_change_for_events_that_have_come_are_as_if_they_had_been_so(
    text: str, batches: list[list[Any]], changes: list[Any]
) -> None:
    registers, events, told = play(typed(text), [*batches, *([change] for change in changes)])
    found, wanted = without_end(registers, told.live), meant(registers, list(events.values()))
    assert sorted(map(repr, found)) == sorted(map(repr, wanted))
