"""From a composite subscription to its path automaton: what its states and arcs say, as flat tables.

Here: the tables. Not here: which states there are (exploration), what the conditions mean (conditions), how to count
(counting).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from ...algebra.composite import Composite, Condition
from ...events.errors import DefinitionError, LimitExceeded
from ...events.instant import format_duration
from .conditions import FINISH, START, Requirement, requirements
from .configurations import DONE, flattened
from .counting import horizon, spans, width
from .exploration import Exploration, Move, Place
from .path_automaton import PathArc, PathAutomaton, PathState, Slot, TimeLimit
from .places import runs

LIMITS_MAX: Final = 60  # conditions that nothing else implies: one bit each in a machine integer


def compile_paths(composite: Composite) -> PathAutomaton:
    """The path automaton of a subscription. O(states * operands * conditions).

    Raises LimitExceeded beyond MOVES_MAX moves or LIMITS_MAX conditions, DefinitionError where no events can
    satisfy the conditions.
    """
    joined = [frozenset(join.variable for join in operand.joins) for operand in composite.operands]
    key = tuple(sorted(joined[0].intersection(*joined)))
    exploration, run_of, places, moves = explored(composite, frozenset(range(len(composite.variables))) - {*key})
    tables = _Tables(exploration, run_of, places, moves)
    automaton = PathAutomaton(
        states=tuple(map(tables.state, places)),
        arcs=tuple(map(tables.arc, sorted(moves, key=lambda m: (tables.number[m.source], m.operand)))),
        limits=exploration.limits,
        operands=len(composite.operands),
        variables=len(composite.variables),
        key=key,
        keys=tuple(tuple(tables.attributes(o, v)[0] for v in key) for o in range(len(composite.operands))),
        spans=None,
        width=0,
        horizon=None,
    )
    return replace(automaton, spans=spans(automaton), width=width(automaton, run_of), horizon=horizon(automaton))


def explored(
    composite: Composite, free: frozenset[int]
) -> tuple[Exploration, dict[int, tuple[int, int]], list[Place], list[Move]]:
    """The states of a subscription that keep these variables, and the runs of its operands (places.runs)."""
    structure = flattened(composite.structure)
    limits = tuple(
        TimeLimit(number, *asked.pair, asked.allowed, _written(composite, asked))
        for number, asked in enumerate(requirements(composite))
    )
    if len(limits) > LIMITS_MAX:
        raise LimitExceeded(
            f"a subscription may have at most {LIMITS_MAX} time conditions that do not follow from each other, "
            f"this one has {len(limits)}"
        )
    run_of = runs(structure)
    near = tuple(limit for limit in limits if limit.first >= 0 <= limit.last and _one_run(run_of, limit))
    far = tuple(limit for limit in limits if limit not in near)
    exploration = Exploration(composite, structure, near, far, free)
    places, moves = exploration.explored()
    if not places:
        texts = " or ".join(limit.text for limit in limits if not limit.allowed)
        raise DefinitionError(f"no events can satisfy {texts}, given the order and the other conditions")
    return exploration, run_of, places, moves


class _Tables:
    def __init__(
        self, exploration: Exploration, run_of: dict[int, tuple[int, int]], places: list[Place], moves: list[Move]
    ) -> None:
        self.exploration = exploration
        self.run_of = run_of
        self.number = {place: number for number, place in enumerate(places)}
        self.certain = _certain(places, moves)

    def state(self, place: Place) -> PathState:
        return PathState(
            skips=self.exploration.skips(place),
            final=place.at == DONE,
            slots=tuple(self.slot(place, one) for one in self.exploration.kept(place)),
            variables=tuple(sorted(place.bound)),
        )

    def slot(self, place: Place, one: int) -> Slot:
        limits = [limit.number for limit in self.exploration.open(one, place.at) if limit.allowed]
        ends = {limit.number: end for limit, end in self.exploration.asking(one)}
        must = [number for number in limits if ends[number] == FINISH or ends[number] in self.certain[place]]
        return Slot(one, tuple(limits), tuple(must))

    def arc(self, move: Move) -> PathArc:
        source, operand, target = move
        slots, bound = self.exploration.kept(source), sorted(source.bound)
        tests, equals, present, read = [], [], [], dict[int, int]()
        for join in self.exploration.composite.operands[operand].joins:
            if join.variable in source.bound:
                tests.append((join.position, bound.index(join.variable)))
            elif join.variable in read:
                equals.append((read[join.variable], join.position))
            else:
                read[join.variable] = join.position
                if join.variable in self.exploration.free:
                    present.append(join.position)
        return PathArc(
            source=self.number[source],
            operand=operand,
            target=self.number[target],
            checks=tuple(
                (slots.index(one), limit.number) for limit, one in self.exploration.decided(source, operand, target.at)
            ),
            recents=tuple(
                (self.run_of[operand][1] - self.run_of[min(limit.first, limit.last)][1], limit.allowed)
                for limit in self.exploration.near
                if operand == max(limit.first, limit.last)
            ),
            tests=tuple(tests),
            equals=tuple(equals),
            present=tuple(present),
            times=tuple(slots.index(one) if one in source.live else -1 for one in self.exploration.kept(target)),
            values=tuple(bound.index(v) if v in source.bound else -1 - read[v] for v in sorted(target.bound)),
        )

    def attributes(self, operand: int, variable: int) -> list[int]:
        return [j.position for j in self.exploration.composite.operands[operand].joins if j.variable == variable]


def _one_run(run_of: dict[int, tuple[int, int]], limit: TimeLimit) -> bool:
    return run_of[limit.first][0] == run_of[limit.last][0]


def _certain(places: list[Place], moves: list[Move]) -> dict[Place, frozenset[int]]:
    """For each place the operands that every way to the end takes."""
    leaving: dict[Place, list[Move]] = {place: [] for place in places}
    for move in moves:
        leaving[move.source].append(move)
    found: dict[Place, frozenset[int]] = {}
    for place in reversed(places):
        ways = [found[move.target] | {move.operand} for move in leaving[place]]
        found[place] = ways[0].intersection(*ways) if ways else frozenset()
    return found


def _written(composite: Composite, asked: Requirement) -> str:
    """A requirement for people: the conditions on its pair as they were written, and WITHIN where it is one of them."""

    def text(condition: Condition) -> str:
        names = [composite.operands[operand].name for operand in (condition.minuend, condition.subtrahend)]
        duration = format_duration(condition.duration) if condition.duration >= 0 else str(condition.duration)
        return f"t({names[0]}) - t({names[1]}) {condition.operator} {duration}"

    written = [text(c) for c in composite.conditions if {c.minuend, c.subtrahend} == set(asked.pair)]
    if composite.within is not None and (START in asked.pair or FINISH in asked.pair or not written):
        written.append(f"WITHIN {format_duration(composite.within)}")
    return " and ".join(written)
