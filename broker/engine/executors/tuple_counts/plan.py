"""How the tuples of an automaton are counted: its states and arcs as flat tables, and the choice of a method.

An automaton's path from its start to its end is one tuple of events. The tables leave out what needs no counting: the
values that all events of a match share are a key, so that they are in no state.

Here: this plan, made of the automaton alone. Not here: counts of any stream (machine).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

from ....algebra.terms import Constant
from ....automaton.analyses.countable import Span, spans_of, width
from ....automaton.analyses.horizon import horizon
from ....automaton.analyses.kept_times import KeptTime, kept_times
from ....automaton.analyses.variables import Variables, equal_attributes, read_by, variables_of
from ....automaton.automaton import Arc, Automaton, Carry, Stay
from ....automaton.distances import Distances
from ....automaton.topological import topological_order

WIDTH_EXACT: Final = 2  # independent times in a key; the cells of wider ones are limited in number


@dataclass(frozen=True, slots=True)
class CountedState:
    """`number`: the automaton's, 0 where nothing waits. `skips`: events may pass by; else its matches are of use for
    the very next event only. `times`: (open, must) of each that is kept: the numbers of the limits that may still ask
    for it, and those of them which every way to the end does ask. `variables`, sorted, are bound beside the key's."""

    number: int
    skips: bool
    final: bool
    times: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    variables: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CountedArc:
    """An event of `operand` leads from `source` to `target` if

    - `checks`: (time of the source, limit): it is an allowed distance after the event whose time that is;
    - `recents`: (n, distances): so it is after the event n positions before it;
    - `tests`: (attribute, index in the source's variables): it has the value that is bound;
    - `equals`: these pairs of its attributes are equal; and `present`: these are not null.

    `times` fills the target's, each from the source's time of that index, or, -1, with the event's own; `values` its
    variables, from those of the source likewise, or, below zero, from attribute -1 - n.
    """

    source: int
    operand: int
    target: int
    checks: tuple[tuple[int, int], ...]
    recents: tuple[tuple[int, Distances], ...]
    tests: tuple[tuple[int, int], ...]
    equals: tuple[tuple[int, int], ...]
    present: tuple[int, ...]
    times: tuple[int, ...]
    values: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class CountingPlan:
    """States in topological order, 0 the start; one final state for each set of variables that a match binds. `limits`:
    the allowed distances of each time condition, by number. `variables`: how many.

    `key` are the variables that every operand joins, `keys` the attributes by operand that hold them: events with other
    values of these have nothing to do with each other. `spans` is None where counts need keyed cells, whose keys are up
    to `width` times. `horizon` is how long after its last event a match can be of any use, in microseconds; None: for
    ever."""

    states: tuple[CountedState, ...]
    arcs: tuple[CountedArc, ...]
    limits: tuple[Distances, ...]
    variables: int
    key: tuple[int, ...]
    keys: tuple[tuple[int, ...], ...]
    spans: tuple[Span, ...] | None
    width: int
    horizon: int | None

    def uses_windows(self, tuples: bool) -> bool:
        """Whether the spans serve: tuples can be handed out one by one only where each state holds them in order."""
        return self.spans is not None and (not tuples or all(span.ordered for span in self.spans))

    def method(self, windows: bool) -> str:
        """How its tuples are counted, by windows or by cells, for people."""
        if windows and self.spans:
            return "windows by two stacks" if any(span.stacked for span in self.spans) else "windows by a table"
        if self.width == 0:
            return "one total a state" + (" and binding" if any(state.variables for state in self.states) else "")
        keys = f"cells keyed by {self.width} time{'s' if self.width > 1 else ''}"
        return keys if self.width <= WIDTH_EXACT else f"{keys}, limited in number"


def counting_plan(automaton: Automaton) -> CountingPlan:
    """O(arcs * slots). For acyclic automata of points in order of arrival, which report every path."""
    variables, times = variables_of(automaton), kept_times(automaton)
    tables = _Tables(automaton, variables, times)
    states = tuple(map(tables.state, tables.order))
    allowed = {e.number: e.allowed for arc in automaton.arcs for e in arc.elapsed}
    spans = None if any(state.variables for state in states) else spans_of(automaton, times)
    if spans is not None:
        spans = tuple(replace(span, states=tuple(tables.number[n] for n in span.states)) for span in spans)
    return CountingPlan(
        states,
        tuple(tables.arc(arc, end) for arc, end in zip(automaton.arcs, tables.ends)),
        tuple(allowed.get(number, ()) for number in range(max(allowed, default=-1) + 1)),
        len(automaton.schema.attributes),
        variables.key,
        variables.keys(),
        spans,
        width(automaton, times),
        horizon(automaton, times),
    )


class _Tables:
    """The automaton's states by number, the plan's final ones behind them. `order`: as they stand in the plan;
    `number`: where each stands there; `ends`: by arc, its target."""

    def __init__(self, automaton: Automaton, variables: Variables, times: list[dict[int, KeptTime]]) -> None:
        self.automaton = automaton
        self.slots = variables.slots
        self.key = frozenset(variables.key)
        self.waiting = len(automaton.states)
        self.times = [list(own) for own in times]
        self.kept = times
        self.bound = [sorted(v for v in own.values() if v not in self.key) for own in self.slots]
        self.ends: list[int] = []
        targets: list[list[int]] = [[] for _ in automaton.states]
        for arc in automaton.arcs:
            self.ends.append(arc.target if arc.target < self.waiting else self.final(arc))
            targets[arc.source].append(self.ends[-1])
        self.order = topological_order([*targets, *([] for _ in self.bound[self.waiting :])])
        self.number = [0] * len(self.order)
        for number, state in enumerate(self.order):
            self.number[state] = number

    def final(self, arc: Arc) -> int:
        """The final state of the variables that the arc outputs."""
        terms = enumerate(arc.output)
        bound = [v for v, term in terms if not isinstance(term, Constant) and v not in self.key]
        for number in range(self.waiting, len(self.bound)):
            if self.bound[number] == bound:
                return number
        self.bound.append(bound)
        return len(self.bound) - 1

    def state(self, number: int) -> CountedState:
        bound = tuple(self.bound[number])
        if number >= self.waiting:
            return CountedState(0, True, True, (), bound)
        times = tuple((tuple(sorted(k.open)), tuple(sorted(k.must))) for k in self.kept[number].values())
        return CountedState(number, self.automaton.states[number].stay is Stay.ALL, False, times, bound)

    def arc(self, arc: Arc, end: int) -> CountedArc:
        before, bound = self.times[arc.source], self.bound[arc.source]
        slot_of = {variable: slot for slot, variable in self.slots[arc.source].items()}
        read = read_by(self.automaton, self.slots, arc)
        tests, equals, present = [], [], []
        keyed: dict[int, int] = {}  # the attribute that holds a value of the key
        for join in arc.joins:
            variable = self.slots[arc.source][join.register.slot]
            if variable not in self.key:
                tests.append((join.position, bound.index(variable)))
            elif variable in keyed:
                equals.append((keyed[variable], join.position))
            else:
                keyed[variable] = join.position
        free = {position for variable, position in read.items() if variable not in self.key}
        for one, other in equal_attributes(arc):
            if one != other:
                equals.append((one, other))
            elif one in free:
                present.append(one)
        times: list[int] = []
        if end < self.waiting:
            sources = [arc.update[slot] for slot in self.times[end]]
            times = [before.index(source.slot) if isinstance(source, Carry) else -1 for source in sources]
        return CountedArc(
            source=self.number[arc.source],
            operand=arc.operand,
            target=self.number[end],
            checks=tuple((before.index(e.slot), e.number) for e in arc.elapsed if e.slot >= 0),
            recents=tuple((-e.slot, e.allowed) for e in arc.elapsed if e.slot < 0),
            tests=tuple(tests),
            equals=tuple(equals),
            present=tuple(present),
            times=tuple(times),
            values=tuple(bound.index(v) if v in slot_of else -1 - read[v] for v in self.bound[end]),
        )
