"""SASE+ subscriptions together: shared symbols and machines, time that passes, limits, coming and going, snapshots."""

from __future__ import annotations

from typing import Any, cast

import msgpack
from doubles.read_rows import composed_of

from broker.algebra.sase.lowering import lower
from broker.algebra.semantics import Environment, Occurrence, holds
from broker.automaton.constructions.pattern import automaton_of_pattern
from broker.engine.compiler.templates import MachineTemplate
from broker.engine.dispatch.registry import Registry
from broker.engine.executors.kleene.machine_plan import PatternPlan
from broker.engine.matches.completions import Completions
from broker.engine.matches.composed import Composed
from broker.engine.matches.sources import trace_of
from broker.engine.options import Options
from broker.engine.program.directory import Directory
from broker.engine.program.target import Target
from broker.engine.snapshot import EngineState
from broker.engine.snapshot import machines as snapshot
from broker.engine.subscribing.subscriber import (
    CompiledQuery,
    QueryAutomata,
    QueryPlans,
    QueryResults,
    QueryWording,
    Subscriber,
)
from broker.events.schema import Row, Schema
from broker.language.sase import parse
from broker.language.wording import Wording

SCHEMAS = {
    "S": Schema.declare({"ty": "string", "k": "int"}),
    "T": Schema.declare({"k": "int", "x": "float"}),
    "P": Schema.declare({"p": "float?", "w": "float?"}),
}
EVEN = ((1.0, 8.0), (2.0, 3.0), (3.0, 4.0), (4.0, None), (3.0, 2.0), (5.0, 1.0))
ODD = (*EVEN[:4], (None, 2.0), *EVEN[4:])
NEXT = "PATTERN SEQ(S a, S b) WHERE skip_till_next_match(a, b) { [k] AND a.ty = 'A' AND b.ty = 'B' } WITHIN 10"
LETTERS = "a[1].ty = 'A' AND a[i].ty = 'A' AND b.ty = 'B'"
ANY = f"PATTERN SEQ(S+ a[], S b) WHERE skip_till_any_match(a[], b) {{ {LETTERS} }} WITHIN 99"
LATE = "PATTERN SEQ(S a, ~(T n)) WHERE skip_till_next_match(a) { [k] AND a.ty = 'A' } WITHIN 5"
NEAR = "PATTERN SEQ(S a, T b) WHERE partition_contiguity(a, b) { [k] } WITHIN 50"


class House:
    """A registry, with an index that tries every guard."""

    def __init__(self, options: Options | None = None) -> None:
        options = options or Options()
        self.machines = Registry(Directory(options), options, (PatternPlan,), lambda plan, _: plan)
        self.program = self  # as a snapshot sees it
        self.executors: dict[int, str] = {}
        self.forms: dict[str, CompiledQuery] = {}
        self.number = 0

    def join(self, name: str, text: str) -> None:
        pattern = lower(parse(text), text, SCHEMAS.get, lambda: list(SCHEMAS))[0]
        plan = PatternPlan(automaton_of_pattern(pattern))
        automaton = plan.automaton
        said, template = Wording((text,)), MachineTemplate(automaton, lambda _: plan)
        form = CompiledQuery(
            QueryWording("sase", said, said, ()),
            QueryResults(None, automaton.schema, automaton.operands),
            QueryAutomata(2),
            QueryPlans(None, [], machine=template),
        )
        self.forms[name] = form
        self.machines.join(name, plan, Subscriber(name, form, (), None, True, 0, 0), None)

    def leave(self, name: str) -> None:
        self.machines.leave(name, Subscriber(name, self.forms.pop(name), (), None, True, 0, 0), None)

    def take(self, stream: str, time: int, *row: Any) -> list[tuple[str, list[int]]]:
        """Who is told what: items are events' numbers; a limit has none."""
        found = Completions()
        self.machines.clock.advance(time, found)
        gathered, woken = read(found), int(found.upto)
        self.number += 1
        entries = self.machines.entries.get(self.machines.directory.stream(stream), [])
        for lane, own in entries:
            lane.take(own, self.satisfied(stream, row), row, time, self.number, found)
        gathered += read(found, row, time, self.number, woken)
        self.machines.check_invariants()
        return told(gathered)

    def satisfied(self, stream: str, row: Row) -> list[int]:
        environment = Environment(Occurrence(row, 0, 0, ()))
        found = {}
        for registration in self.machines.registrations.values():
            for given, symbol in zip(registration.plan.inputs(), registration.symbols):
                if given.stream == stream:
                    found[symbol] = any(all(holds(atom, environment) for atom in clause) for clause in given.guard)
        return [symbol for symbol, held in found.items() if held]


def read(found: Completions, row: Row = (), time: int = 0, item: int = 0, at: int = 0) -> list[tuple[Target, Composed]]:
    return composed_of(found, row, time, item, at)


def passed(house: House, time: int) -> list[tuple[Target, Composed]]:
    found = Completions()
    house.machines.clock.advance(time, found)
    return read(found)


def told(gathered: list[tuple[Target, Composed]]) -> list[tuple[str, list[int]]]:
    found: list[tuple[str, list[int]]] = []
    for target, each in gathered:
        before = len(found)
        for subscriber in target.subscribers():
            found += [(subscriber.name, [item for _, item, _ in matched.assigned]) for matched in each.each()]
        assert each.results() * len(target.subscribers()) == len(found) - before
    return found


def test_equal_subscriptions_share_a_machine_until_it_has_taken_an_event() -> None:
    house = House()
    house.join("one", NEXT)
    house.join("two", NEXT)
    assert house.machines.statistics()["patterns"] == 1
    house.take("S", 1, "A", 7)
    house.join("three", NEXT)
    assert house.machines.statistics()["patterns"] == 2
    assert house.take("S", 2, "B", 7) == [("one", [1, 2]), ("two", [1, 2])]


def test_equal_guards_are_one_symbol_and_go_with_the_last_who_has_them() -> None:
    house = House()
    house.join("one", NEXT)
    house.join("two", ANY)
    assert len(house.machines.symbols.known) == 2
    house.leave("one")
    assert len(house.machines.symbols.known) == 2
    house.leave("two")
    assert house.machines.symbols.known == {}
    assert house.machines.lanes == {}


def test_what_an_event_does_not_concern_it_does_not_touch() -> None:
    house = House()
    house.join("one", NEXT)
    assert house.take("S", 1, "C", 7) == []
    ((matcher,),) = [lane.matchers for lane in house.machines.lanes.values()]
    assert not matcher.taken


def test_time_that_passes_wakes_who_waits_for_it() -> None:
    house = House()
    house.join("late", LATE)
    house.take("S", 1, "A", 1)
    house.take("S", 2, "A", 2)
    house.take("T", 3, 1, 0.0)
    assert house.machines.clock.next == 6
    assert told(passed(house, 7)) == []  # taken back by the event of its key
    assert house.take("T", 8, 2, 0.0) == [("late", [2])]  # known before the event that would have taken it back
    house.take("S", 9, "A", 3)
    house.leave("late")
    assert told(passed(house, 100)) == []


def test_adjacency_counts_events_that_nobody_wants() -> None:
    house = House()
    house.join("near", NEAR)
    house.take("S", 1, "A", 1)
    house.take("S", 2, "A", 2)
    assert house.take("T", 3, 1, 0.0) == [("near", [1, 3])]
    house.take("T", 4, 2, 0.0)
    assert house.take("T", 5, 2, 0.0) == []


def test_a_limit_is_told_and_nobody_else_is_concerned() -> None:
    house = House(Options(matches_max=10))
    house.join("many", ANY)
    house.join("few", NEXT)
    for time in range(1, 9):
        house.take("S", time, "A", 1)
    found = house.take("S", 9, "B", 1)
    assert len([ids for name, ids in found if name == "many" and ids]) == 10
    assert ("many", []) in found
    assert len([ids for name, ids in found if name == "few"]) == 8


def test_compressed_output_is_one_result_that_knows_how_many_it_stands_for() -> None:
    house = House()
    house.join("many", f"{ANY} OUTPUT compressed")
    for time in range(1, 91):
        house.take("S", time, "A", 1)
    ((lane, stream),) = house.machines.entries[house.machines.directory.stream("S")]
    completions = Completions()
    lane.take(stream, house.satisfied("S", ("B", 1)), ("B", 1), 91, 91, completions)
    assert completions.total() == 1
    ((_, composed),) = read(completions, ("B", 1), 91, 91)
    assert composed.source is not None
    assert (composed.results(), composed.count()) == (1, 2**90 - 1)
    first = next(composed.source.all())
    assert [first] == list(composed.each())
    assert first.assigned[-1] == (1, 91, 91)
    assert trace_of(first) != 0


def test_a_snapshot_keeps_what_is_under_way() -> None:
    house = House()
    for name, text in [("next", NEXT), ("same", NEXT), ("any", ANY), ("late", LATE), ("near", NEAR)]:
        house.join(name, text)
    for time in range(1, 4):
        house.take("S", time, "A", time)
    house.join("new", NEXT)
    again = reborn(house)
    assert again.machines.statistics() == house.machines.statistics()
    for event in [("S", 4, "B", 2), ("T", 5, 3, 1.0), ("S", 7, "A", 9), ("T", 8, 9, 0.0), ("S", 30, "B", 1)]:
        stream, time, *row = event
        assert again.take(stream, time, *row) == house.take(stream, time, *row)


def reborn(house: House) -> House:
    """The same from a snapshot."""
    before, after = cast(EngineState, house), cast(EngineState, again := House())
    kept, *rest = snapshot.save_contents("kleene", before), snapshot.save(before), snapshot.save_lanes(before)
    contents, machines, lanes = msgpack.unpackb(msgpack.packb([kept, *rest]), use_list=False, strict_map_key=False)
    snapshot.begin(after, machines)
    for name, form in house.forms.items():
        again.join(name, form.written.pieces[0])
    snapshot.restore_contents("kleene", after, contents)
    snapshot.restore_lanes(after, lanes)
    again.number = house.number
    return again


def alike(factor: float) -> str:
    block = f"a[i].p > avg(a[..i-1].p) AND b.w < {factor} * a[a.LEN].w"
    return f"PATTERN SEQ(P+ a[], P b) WHERE skip_till_next_match(a[], b) {{ {block} }} WITHIN 99"


def test_runs_under_way_can_be_looked_at() -> None:
    house = House()
    house.join("any", ANY)
    house.join("next", NEXT)
    house.join("rising", alike(0.5))
    for time in (1, 2):
        house.take("S", time, "A", 7)
        house.take("P", time, float(time), 1.0)
    assert sorted(map(repr, house.machines.partial("any", 3, 10))) == ["{'a': [1, 3]}", "{'a': [1]}", "{'a': [3]}"]
    assert house.machines.partial("next", 3, 1) == [{"a": [1]}]
    assert house.machines.partial("next", 12, 9) == [{"a": [3]}]
    assert house.machines.partial("rising", 3, 10) == [{"a": [2, 4]}, {"a": [4]}]
