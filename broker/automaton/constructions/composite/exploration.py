"""Finds the states of a composite pattern's automaton, breadth first from its start, and the moves between them.

A state is a configuration, the events that open conditions refer to, and the bound variables. The branch that an OR
took is forgotten unless a later condition needs it. Moves that no event can make, and states from which no match can be
completed, are left out. Not here: registers and conditions (construction), single steps (configurations).
"""

from __future__ import annotations

from typing import Final, NamedTuple, final

from ....algebra.terms import LiteralUsed
from ....events.errors import DefinitionError, LimitExceeded
from ...machines.tree import MachineTree
from ...topological import topological_order
from .conditions import FINISH, START, TimeLimit, time_limits
from .configurations import DONE, Configuration, initial, remaining, skips, steps
from .places import runs

MOVES_MAX: Final = 8192  # moves between an automaton's states; they bound the cost of registering it


class PathPlace(NamedTuple):
    """The identity of a state. `live`: the operands whose events open conditions refer to, START for the first event of
    the match; `bound`: the bound variables."""

    at: Configuration
    live: frozenset[int]
    bound: frozenset[int]


class PathMove(NamedTuple):
    """A move by an event of `operand` between two places, given by number."""

    source: int
    operand: int
    target: int


@final
class Exploration:
    """`places`: those from which a match can be completed, in topological order, the start first. `moves`: those
    between them, by source, then by operand. `near`: the limits on two events of one contiguous run, tested on the last
    events; `run_of` has the positions of operands in these runs. The other limits test kept times."""

    def __init__(self, tree: MachineTree) -> None:
        """Explore the states. O(places * operands). Raises LimitExceeded beyond MOVES_MAX moves, counted as they are
        found, or LIMITS_MAX conditions; DefinitionError if no events can satisfy the conditions."""
        self.root = tree.root
        self.run_of = runs(tree.root)
        limits = time_limits(tree)
        self.near = [limit for limit in limits if self._adjacent(limit)]
        self._far = [limit for limit in limits if not self._adjacent(limit)]
        self._joined = [frozenset([variable for _, variable in p.variables]) for p in tree.primitives]
        self._remaining: dict[Configuration, frozenset[int]] = {}
        self._open: dict[tuple[int, Configuration], list[TimeLimit]] = {}
        self._asking: dict[int, list[tuple[TimeLimit, int]]] = {}
        self.places: list[PathPlace] = []
        self.moves: list[PathMove] = []
        self._explore()
        if not self.places:
            never = [limit.said for limit in limits if not limit.allowed]
            for number in [number for said in never for number in said.numbers]:
                raise LiteralUsed(number)
            texts = " or ".join([said.plain() for said in never])
            raise DefinitionError(f"no events can satisfy {texts}, given the order and the other conditions")

    def _adjacent(self, limit: TimeLimit) -> bool:
        """Whether both events of a limit belong to one contiguous run."""
        return limit.first >= 0 <= limit.last and self.run_of[limit.first][0] == self.run_of[limit.last][0]

    def _explore(self) -> None:
        found = {PathPlace(initial(self.root), frozenset(), frozenset()): 0}
        waiting = list(found)
        leaving: list[list[PathMove]] = []
        moves = 0
        for source, place in enumerate(waiting):
            leaving.append([])
            for operand, at in steps(self.root, place.at):
                if not self._possible(place, operand, at):
                    continue
                target = PathPlace(at, self._live(place, operand, at), place.bound | self._joined[operand])
                number = found.setdefault(target, len(found))
                if number == len(waiting):
                    waiting.append(target)
                leaving[source].append(PathMove(source, operand, number))
                moves += 1
                if moves > MOVES_MAX:
                    raise LimitExceeded(
                        f"a composite subscription may have at most {MOVES_MAX} moves between its states, this one has "
                        "more: the parts of an AND interleave in too many ways"
                    )
        order = topological_order([[move.target for move in own] for own in leaving])
        useful = [place.at == DONE for place in waiting]
        for number in reversed(order):
            useful[number] = useful[number] or any(useful[move.target] for move in leaving[number])
        new = {old: number for number, old in enumerate([old for old in order if useful[old]])}
        for old, number in new.items():
            self.places.append(waiting[old])
            own = [PathMove(number, move.operand, new[move.target]) for move in leaving[old] if useful[move.target]]
            self.moves += sorted(own)

    def skips(self, place: PathPlace) -> bool:
        return skips(self.root, place.at)

    def kept(self, place: PathPlace) -> list[int]:
        """The operands whose times a place keeps, except those for which no open condition can fail any more."""
        return [one for one in sorted(place.live) if any(limit.allowed for limit in self._opened(one, place.at))]

    def _opened(self, one: int, at: Configuration) -> list[TimeLimit]:
        """The limits that may still test the event of an operand (START: the first) in some continuation."""
        found = self._open.get((one, at))
        if found is None:
            rest = self._remaining.get(at)
            if rest is None:
                rest = self._remaining[at] = remaining(self.root, at)
            found = [limit for limit, other in self._asked(one) if other in rest or (other == FINISH and rest)]
            self._open[one, at] = found
        return found

    def _asked(self, one: int) -> list[tuple[TimeLimit, int]]:
        """The limits measured from the event of an operand, each with its end: a later operand or FINISH."""
        found = self._asking.get(one)
        if found is None:
            found = self._asking[one] = [
                (limit, end)
                for limit in self._far
                for start, end in ((limit.first, limit.last), (limit.last, limit.first))
                if start == one and end != START
            ]
        return found

    def _possible(self, place: PathPlace, operand: int, at: Configuration) -> bool:
        if any(not limit.allowed for limit in self.near if operand == max(limit.first, limit.last)):
            return False
        return all(limit.allowed for limit, _ in self.decided(place, operand, at))

    def decided(self, place: PathPlace, operand: int, at: Configuration) -> list[tuple[TimeLimit, int]]:
        """The limits that are tested at an event of the operand, each with the operand that it is measured from."""
        return [
            (limit, one)
            for one in sorted(place.live)
            for limit, other in self._asked(one)
            if other == operand or (other == FINISH and at == DONE)
        ]

    def _live(self, place: PathPlace, operand: int, at: Configuration) -> frozenset[int]:
        if not self._far:
            return place.live
        return frozenset([one for one in (*place.live, operand, START) if self._opened(one, at)])
