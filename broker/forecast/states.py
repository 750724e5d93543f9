"""The states of a subscription's chain: how many, in which order, and what is known of them before anything is counted.

An *elementary* state is one that a partial match can be in; 0 is that of having none. The chain's state is, after each
event, either the final one, if a match completed at it, or the most advanced elementary state that is live: the one
with the fewest steps left (semantics 3.7). With `set` it is the set of all that are live, as bits, which is exact where
it is small. After a match the chain leaves the final state at the next event, whatever that is.

Here: numbers. Not here: which states are live (track, progress).
"""

from __future__ import annotations

from typing import Final, final

from mypy_extensions import i64

from ..automaton.analyses.chain import elementary_states
from ..automaton.analyses.window_chain import window_chain
from ..automaton.automaton import Automaton
from ..events.errors import LimitExceeded
from .chain import Shape, shape
from .exceeding import Exceeding

SET_STATES_MAX: Final = 6
"""Elementary states whose sets are distinguished: at most 64 sets."""
NONE: Final = 0


@final
class States:
    """`left[e]`: how many steps from elementary state e to a match at least. `labels` are for people. `successors`:
    the elementary states that can follow each, where more is known of them than `left` says. `exceeding`: by which
    aggregate open windows are divided further, the highest level first; a match is then one that exceeds it."""

    def __init__(
        self,
        left: list[int],
        labels: list[str],
        sets: bool,
        successors: list[list[int]] | None = None,
        exceeding: Exceeding | None = None,
    ) -> None:
        """Raises LimitExceeded where sets are wanted of more than SET_STATES_MAX elementary states."""
        self.left = left
        self.labels = labels
        self.sets = sets
        self.exceeding = exceeding
        elementary = len(left) - 1
        if sets and elementary > SET_STATES_MAX:
            raise LimitExceeded(
                f"forecast: states = 'set' is for at most {SET_STATES_MAX} states of a partial match,"
                f" this subscription has {elementary}"
            )
        self.final: int = 1 << elementary if sets else elementary + 1
        # Elementary states, the most advanced first; of equally advanced ones the one with the smallest number.
        self.order: list[int] = sorted(range(1, elementary + 1), key=lambda state: (left[state], state))
        self.shape: Shape = self._shape(successors)

    @property
    def cells(self) -> int:
        """How many states there are for each of an open window."""
        return 1 if self.exceeding is None else self.exceeding.cells

    def of(self, live: list[int]) -> i64:
        """The chain's state where these elementary states are live, each at most once. O(states)."""
        if self.sets:
            bits: i64 = 0
            for state in live:
                bits |= 1 << (state - 1)
            return bits
        found: i64 = NONE
        for state in live:
            if (
                found == NONE
                or self.left[state] < self.left[found]
                or (self.left[state] == self.left[found] and state < found)
            ):
                found = state
        return found

    def least(self, state: int) -> int:
        """How many steps from a state of the chain, which is not the final one, to a match at least."""
        if not self.sets:
            return self.left[state]
        members = [self.left[e] for e in range(1, len(self.left)) if state >> (e - 1) & 1]
        return min([self.left[NONE], *members])

    def label(self, state: int) -> str:
        """A state of the chain, for people."""
        if state == self.final:
            return "match"
        if not self.sets:
            return self.labels[state]
        return "{" + ", ".join(self.labels[e] for e in range(1, len(self.left)) if state >> (e - 1) & 1) + "}"

    def _shape(self, known: list[list[int]] | None) -> Shape:
        """A step brings a match nearer by one at most, and a match may be followed by anything."""
        chain = range(self.final)
        if self.sets:
            return shape(self.final + 1, [self.final], chain)
        successors = [[s for s in chain if self.left[s] >= self.left[q] - 1] for q in chain]
        if known is not None:
            successors = [list(row) for row in known]
        for state in chain:
            if self.left[state] == 1:
                successors[state].append(self.final)
        successors.append([*chain, self.final])
        return shape(self.final + 1, [self.final], chain, successors)


def states_of(
    automata: tuple[Automaton, ...], sets: bool, exceeding: Exceeding | None = None
) -> tuple[States, list[list[int]]]:
    """The states of a union of automata, and the numbers of each one's own, 0 for the start.

    Raises LimitExceeded; DefinitionError for windows without states.
    """
    windows = automata[0].windows
    if windows is not None:
        found = window_chain(windows, 1 if exceeding is None else exceeding.cells)
        return States(found.left, found.labels, sets, found.successors, exceeding), [[NONE]]
    left, labels, numbers = elementary_states(automata)
    return States(left, labels, sets), numbers
