"""How the tuples of an automaton are counted: its states and arcs as flat tables, and the choice of a method.

The tables leave out what needs no counting: the values that all events of a match share are a key, so that they are in
no state.

Here: this plan, made of the automaton alone. Not here: what the tables mean (arcs), counts of any stream (partition).
"""

from __future__ import annotations

from typing import Final, NamedTuple, final

from ....algebra.terms import Constant
from ....automaton.analyses.countable import Span, spans_of, width
from ....automaton.analyses.kept_times import horizon, kept_times
from ....automaton.analyses.variables import equal_attributes, read_by, variables_of
from ....automaton.automaton import Arc, Automaton, Carry, Stay
from ....automaton.distances import Distances
from ....automaton.topological import topological_order
from .arcs import ArcQuestions, CountedArc, CountedState

WIDTH_EXACT: Final = 2  # independent times in a key; the cells of wider ones are limited in number


@final
class CountingPlan(NamedTuple):
    """States in topological order, 0 the start; one final state for each set of variables that a match binds. Arcs by
    source. `variables`: how many.

    `key` are the variables that every operand joins, `keys` the attributes by operand that hold them: events with other
    values of these have nothing to do with each other. `spans` is None where counts need keyed cells, whose keys are up
    to `width` times. `horizon` is how long after its last event a match can be of any use, in microseconds; None: for
    ever."""

    states: list[CountedState]
    arcs: list[CountedArc]
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
        """How its tuples are counted, by windows or by cells, for users."""
        if windows and self.spans:
            return "windows"
        if self.width == 0:
            return "one total a state" + (" and binding" if any(state.variables for state in self.states) else "")
        keys = f"cells keyed by {self.width} time{'s' if self.width > 1 else ''}"
        return keys if self.width <= WIDTH_EXACT else f"{keys}, limited in number"


def counting_plan(automaton: Automaton) -> CountingPlan:
    """O(arcs * slots). For acyclic automata of points in order of arrival, which report every path."""
    return _Planned(automaton).plan


class _Planned:
    """The automaton's states by number, the plan's final ones behind them. `bound`: their variables; `number`: where
    each stands in the plan."""

    def __init__(self, automaton: Automaton) -> None:
        variables = variables_of(automaton)
        self.automaton = automaton
        self.slots = variables.slots
        self.key = frozenset(variables.key)
        self.waiting = len(automaton.states)
        self.kept = kept_times(automaton)
        self.bound = [sorted(v for v in own.values() if v not in self.key) for own in self.slots]
        ends: list[int] = []
        targets: list[list[int]] = [[] for _ in automaton.states]
        for arc in automaton.arcs:
            ends.append(arc.target if arc.target < self.waiting else self._final(arc))
            targets[arc.source].append(ends[-1])
        order = topological_order([*targets, *([] for _ in self.bound[self.waiting :])])
        self.number = [order.index(state) for state in range(len(order))]
        allowed = {e.number: e.allowed for arc in automaton.arcs for e in arc.elapsed}
        self.limits: list[Distances] = [allowed.get(n, ()) for n in range(max(allowed, default=-1) + 1)]
        matched = len(automaton.schema.attributes)
        self.states = [self._state(number, matched) for number in order]
        spans = None if any(state.variables for state in self.states) else spans_of(automaton, self.kept)
        for number, span in enumerate(spans or ()):
            for at, state in enumerate(span.states):
                self.states[self.number[state]].span, self.states[self.number[state]].at = number, at
        arcs = [self._arc(arc, end) for arc, end in zip(automaton.arcs, ends)]
        widest, latest = width(automaton, self.kept), horizon(automaton, self.kept)
        self.plan = CountingPlan(self.states, arcs, matched, variables.key, variables.keys(), spans, widest, latest)

    def _final(self, arc: Arc) -> int:
        """The final state of the variables that the arc outputs."""
        terms = enumerate(arc.output)
        bound = [v for v, term in terms if not isinstance(term, Constant) and v not in self.key]
        for number in range(self.waiting, len(self.bound)):
            if self.bound[number] == bound:
                return number
        self.bound.append(bound)
        return len(self.bound) - 1

    def _state(self, number: int, matched: int) -> CountedState:
        bound = tuple(self.bound[number])
        if number >= self.waiting:
            return CountedState(0, True, True, [], bound, self.limits, matched)
        times = [(tuple(sorted(kept.open)), tuple(sorted(kept.must))) for kept in self.kept[number].values()]
        skips = self.automaton.states[number].stay is Stay.ALL
        return CountedState(number, skips, False, times, bound, self.limits, matched)

    def _arc(self, arc: Arc, end: int) -> CountedArc:
        before, bound = list(self.kept[arc.source]), self.bound[arc.source]
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
            sources = [arc.update[slot] for slot in self.kept[end]]
            times = [before.index(source.slot) if isinstance(source, Carry) else -1 for source in sources]
        asked = ArcQuestions(
            checks=[(before.index(e.slot), e.number) for e in arc.elapsed if e.slot >= 0],
            recents=[(-e.slot, e.allowed) for e in arc.elapsed if e.slot < 0],
            tests=tests,
            equals=equals,
            present=present,
        )
        return CountedArc(
            operand=arc.operand,
            source=self.number[arc.source],
            target=self.number[end],
            states=self.states,
            asked=asked,
            times=times,
            values=[bound.index(v) if v in slot_of else -1 - read[v] for v in self.bound[end]],
            limits=self.limits,
        )
