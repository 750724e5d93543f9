"""Hands a machine of SASE+ runs the events that concern it, as an engine's lane does, and reads what comes out.

Here: counting events, and which inputs an event satisfies. Not here: what must come out.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from doubles.timed_events import as_read

from broker.algebra.sase.pattern import Pattern
from broker.algebra.sase.semantics import Assignment, Event
from broker.algebra.semantics import Environment, Occurrence, holds
from broker.engine.executors.kleene.kleene_plan import KleenePlan
from broker.engine.matches.completions import Completions
from broker.engine.matches.sources import MatchSource
from broker.events.schema import Row

Result: TypeAlias = tuple[Assignment, int, int, Row]
"""Events by component, the times of the first and the last one, RETURN's values."""
END = 1 << 40


class Player:
    """`told`: what came out at each event, and at last when time passed everything."""

    def __init__(self, plan: KleenePlan, machine: Any, check: bool = True) -> None:
        self.plan = plan
        self.machine = machine
        self.check = check
        self.places: dict[tuple[Any, ...], int] = {}
        self.position = 0
        self.number = 0

    def play(self, history: list[Event]) -> list[list[Result]]:
        """The results of each event; items are events' numbers."""
        return [self.take(event) for event in history]

    def take(self, event: Event) -> list[Result]:
        stream, time, row = event
        item, self.number = self.number, self.number + 1
        stream, row = as_read(self.plan.automaton.streams(), stream, time, row)
        source = next((source for source in self.plan.automaton.sources if source.stream == stream), None)
        if source is None:
            return []
        self.position += 1
        place = 0
        key = tuple(row[position] for position in source.key)
        if None not in key:
            place = self.places[key] = self.places.get(key, 0) + 1
        hits = self.hits(stream, row)
        found = Completions()
        found.serve(self.machine.audience())
        if hits:
            self.machine.take(sum(1 << hit for hit in hits), row, time, self.position, place, 0, item, found)
        if self.check:
            self.machine.check_invariants()
        return self.read(found.since(0, row, time, item))

    def hits(self, stream: str, row: Row) -> list[int]:
        environment = Environment(Occurrence(row, 0, 0, ()))
        return [
            at
            for at, given in enumerate(self.plan.inputs)
            if given.stream == stream
            and any(all(holds(atom, environment) for atom in clause) for clause in given.guard)
        ]

    def pass_time(self, time: int = END) -> list[Result]:
        """What is known when time has passed."""
        found = Completions()
        found.serve(self.machine.audience())
        if self.machine.alarm < time:
            self.machine.advance(time, found)
        if self.check:
            self.machine.check_invariants()
        return self.read(found.since(0, (), time, 0))

    def read(self, found: list[MatchSource]) -> list[Result]:
        results: list[Result] = []
        for each in found:
            before = len(results)
            for match in each.all():
                parts: list[list[int]] = [[] for _ in self.plan.steps]
                for component, item, _ in match.assigned:
                    parts[component].append(item)
                results.append((tuple(map(tuple, parts)), match.start, match.end, match.values))
            assert len(results) - before == each.amount()
        return results


def expected(pattern: Pattern, history: list[Event], assignment: Assignment, values: Row) -> Result:
    return (assignment, history[assignment[0][0]][1], history[assignment[-1][-1]][1], values)
