"""The states of a path automaton, found breadth first from its start, and the moves between them.

A state is how far the match is, the events that open conditions refer to and the variables bound: the branch that an
OR took is forgotten unless a later condition asks. Moves that no event can make and states from which nothing
completes are left out. Here: that. Not here: their tables (compilation), the steps (configurations).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ...algebra.composite import Composite, Structure
from ...events.errors import LimitExceeded
from .conditions import FINISH, START
from .configurations import DONE, Configuration, initial, remaining, skips, steps
from .path_automaton import TimeLimit

MOVES_MAX: Final = 8192  # moves between the states of one subscription's path automaton: what its registration costs


@dataclass(frozen=True, slots=True)
class Place:
    """What tells one state from another. `live`: the operands whose events open conditions refer to, START for the
    first event of the match."""

    at: Configuration
    live: frozenset[int]
    bound: frozenset[int]


class Move(NamedTuple):
    source: Place
    operand: int
    target: Place


@dataclass(frozen=True, slots=True)
class Exploration:
    """`near` are the limits that are tests on the last events, at the arc of their later operand; `far` those that ask
    for times kept. `free` are the variables that not every operand joins."""

    composite: Composite
    structure: Structure
    near: tuple[TimeLimit, ...]
    far: tuple[TimeLimit, ...]
    free: frozenset[int]
    _remaining: dict[Configuration, frozenset[int]] = field(default_factory=dict)
    _open: dict[tuple[int, Configuration], list[TimeLimit]] = field(default_factory=dict)
    _asking: dict[int, list[tuple[TimeLimit, int]]] = field(default_factory=dict)

    def explored(self) -> tuple[list[Place], list[Move]]:
        """The useful places in topological order, the start first, and the moves between them; none if nothing can
        complete. O(places * operands). Raises LimitExceeded beyond MOVES_MAX moves, which are
        counted as they are found."""
        start = Place(initial(self.structure), frozenset(), frozenset())
        found = {start: 0}
        waiting = [start]
        moves: list[Move] = []
        for place in waiting:
            for operand, at in steps(self.structure, place.at):
                if not self._possible(place, operand, at):
                    continue
                target = Place(at, self._live(place, operand, at), place.bound | self.joined(operand))
                moves.append(Move(place, operand, target))
                if len(moves) > MOVES_MAX:
                    raise LimitExceeded(
                        f"a composite subscription may have at most {MOVES_MAX} moves between its states, this one has "
                        "more: the parts of an AND interleave in too many ways"
                    )
                if target not in found:
                    found[target] = len(found)
                    waiting.append(target)
        return _useful(start, moves)

    def joined(self, operand: int) -> frozenset[int]:
        return self.free & {join.variable for join in self.composite.operands[operand].joins}

    def skips(self, place: Place) -> bool:
        return skips(self.structure, place.at)

    def kept(self, place: Place) -> list[int]:
        """The operands whose times are kept: not where all that is open excludes them from going on."""
        return [one for one in sorted(place.live) if any(limit.allowed for limit in self.open(one, place.at))]

    @property
    def limits(self) -> tuple[TimeLimit, ...]:
        """All, by number."""
        return tuple(sorted((*self.near, *self.far), key=lambda limit: limit.number))

    def open(self, one: int, at: Configuration) -> list[TimeLimit]:
        """The limits that may still ask for the event of an operand (START: the first), however the match goes on."""
        found = self._open.get((one, at))
        if found is None:
            rest = self.remaining(at)
            found = [limit for limit, other in self.asking(one) if other in rest or (other == FINISH and rest)]
            self._open[one, at] = found
        return found

    def remaining(self, at: Configuration) -> frozenset[int]:
        rest = self._remaining.get(at)
        if rest is None:
            rest = self._remaining[at] = remaining(self.structure, at)
        return rest

    def asking(self, one: int) -> list[tuple[TimeLimit, int]]:
        """The limits measured from the event of an operand, each with what ends it: a later operand or FINISH."""
        found = self._asking.get(one)
        if found is None:
            found = self._asking[one] = [
                (limit, end)
                for limit in self.far
                for start, end in ((limit.first, limit.last), (limit.last, limit.first))
                if start == one and end != START
            ]
        return found

    def _possible(self, place: Place, operand: int, at: Configuration) -> bool:
        if any(not limit.allowed for limit in self.near if operand == max(limit.first, limit.last)):
            return False
        return all(limit.allowed for limit, _ in self.decided(place, operand, at))

    def decided(self, place: Place, operand: int, at: Configuration) -> list[tuple[TimeLimit, int]]:
        """The limits that an event of the operand decides, each with the operand whose event it is measured from."""
        return [
            (limit, one)
            for one in sorted(place.live)
            for limit, other in self.asking(one)
            if other == operand or (other == FINISH and at == DONE)
        ]

    def _live(self, place: Place, operand: int, at: Configuration) -> frozenset[int]:
        return frozenset(one for one in (*place.live, operand, START) if self.open(one, at))


def _useful(start: Place, moves: list[Move]) -> tuple[list[Place], list[Move]]:
    """The places from which something completes, in topological order, and the moves between them."""
    leaving: dict[Place, list[Place]] = {}
    for move in moves:
        leaving.setdefault(move.source, []).append(move.target)
    order: list[Place] = []
    useful: dict[Place, bool] = {}
    stack = [(start, False)]
    while stack:
        place, returned = stack.pop()
        if returned:
            useful[place] = place.at == DONE or any(useful[target] for target in leaving.get(place, ()))
            order.append(place)
        elif place not in useful:
            useful[place] = False  # until it is known; no place leads back to itself
            stack.append((place, True))
            stack += [(target, False) for target in reversed(leaving.get(place, []))]
    kept = [place for place in reversed(order) if useful[place]]
    return kept, [move for move in moves if useful[move.source] and useful[move.target]]
