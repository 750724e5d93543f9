"""Whether the events of one key alone decide about a run: which it takes, which end it, and which forbid its match.

A run begins with an event that has some value. A later event has the same one where it must equal what the run has
remembered of that value, on whichever way the run has come: by a join, by what parts the sources, or by a constant that
the first event equals as well.

Here: following one value through the registers of an automaton of any language. Not here: the parts of the key by which
executors keep runs apart (keys, variables), whose events a forecast counts (chain_keys).
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Final, TypeAlias

from ...algebra.normal_form import Form
from ...algebra.terms import Attribute, Comparison, Constant, Register, Side
from ...algebra.timed_stream import untimed
from ..automaton import TAKING, Arc, Automaton, BoundRow, Carry, Computed, EventRow, Kind, Report, Stay
from .memory import Read
from .window import is_one_event

KeyAttributes: TypeAlias = Mapping[str, int]
"""By stream, the position of the attribute that is its key."""

LAST: Final = -1  # the slot by which registers name the row that a run has taken last


class Crossing(enum.Enum):
    """How events of other keys matter to a run."""

    TAKEN = "a match may have events of several keys"
    NEXT_EVENT = "the next event of the whole stream decides"
    NEXT_OF_PARTITION = "the next event of a partition with several keys decides"
    FORBIDDEN = "events of other keys may forbid a match"
    OVERLAPPED = "a match waits for the end of one before, in a partition with several keys"


def crossing(automaton: Automaton, keys: KeyAttributes) -> Crossing | None:
    """How events of other keys matter to runs; None if they do not. O(arcs x slots), where nothing loops."""
    if is_one_event(automaton):
        return None
    if automaton.windows is not None:
        if all(keys.get(untimed(source.stream)) in source.key for source in automaton.sources):
            return None
        return Crossing.NEXT_OF_PARTITION if automaton.partition else Crossing.NEXT_EVENT
    stays = {state.stay for state in automaton.states}
    if Stay.NONE in stays:
        return Crossing.NEXT_EVENT
    following = _Following(automaton, keys)
    if not following.agrees():
        return Crossing.TAKEN
    if not following.parted:
        if automaton.report is Report.NONOVERLAP:
            return Crossing.OVERLAPPED
        if Stay.FOREIGN in stays:
            return Crossing.NEXT_OF_PARTITION if automaton.partition else Crossing.NEXT_EVENT
    return None if following.forbids_its_own() else Crossing.FORBIDDEN


def agrees(automaton: Automaton, keys: KeyAttributes) -> bool:
    """Whether all events that a run takes, or that could end it, have the key of its first one. False where a stream
    has no key."""
    return _Following(automaton, keys).agrees()


class _Following:
    """Where the key of a run's first event is found again: `held` by state, in which registers on every way there; None
    where nothing leads. `parted`: the sources are parted by it."""

    def __init__(self, automaton: Automaton, keys: KeyAttributes) -> None:
        self.automaton = automaton
        self.keys = keys
        self.keyed = all(untimed(stream) in keys for stream in automaton.streams())
        # Where a run comes back to the start, an arc out of it need not take a first event.
        self.returns = any(arc.kind in TAKING and arc.target == 0 for arc in automaton.arcs)
        parts = zip(*[[position == keys.get(untimed(s.stream)) for position in s.key] for s in automaton.sources])
        self.parted = any(map(all, parts))
        self.constants: set[Constant] = set()
        self.held: list[set[Read] | None] = [set(), *(None for _ in automaton.states)]
        if self.keyed:
            self._find_constants()
            self._follow()

    def agrees(self) -> bool:
        taking = [arc for arc in self.automaton.arcs if arc.kind in TAKING]
        return self.keyed and all(self._has_key(arc, self.held[arc.source] or set()) for arc in taking)

    def forbids_its_own(self) -> bool:
        """Whether what forbids a match has its key: it is compared with what the whole match has."""
        whole: set[Read] | None = None
        for arc in self.automaton.arcs:
            if arc.target == self.automaton.final:
                held = self.held[arc.source] or set()
                whole = held if whole is None else whole & held
        killing = [arc for arc in self.automaton.arcs if arc.kind is Kind.KILL]
        return all(self._has_key(arc, whole or set()) for arc in killing)

    def _has_key(self, arc: Arc, held: set[Read]) -> bool:
        return self.keys[self._stream(arc)] in self._having(arc, held)

    def _stream(self, arc: Arc) -> str:
        return untimed(arc.stream or self.automaton.states[arc.source].stream or self.automaton.sources[0].stream)

    def _find_constants(self) -> None:
        """What the key must equal in every first event."""
        found: list[set[Constant]] = []
        for arc in self.automaton.arcs:
            if arc.kind in TAKING and arc.source == 0:
                own = self._having(arc, set())
                found.append({c for p, c in _equal(arc.guard) if p in own and isinstance(c, Constant)})
        self.constants = set.intersection(*found) if found else set()

    def _follow(self) -> None:
        growing = True
        while growing:
            growing = False
            for arc in self.automaton.arcs:
                before, known = self.held[arc.source], self.held[arc.target]
                if arc.kind is Kind.KILL or before is None:
                    continue
                after = self._after(arc, before)
                after = after if known is None else known & after
                if after != known:
                    self.held[arc.target] = after
                    growing = True

    def _having(self, arc: Arc, held: set[Read]) -> set[int]:
        """The attributes of an arc's event that have the value."""
        state = self.automaton.states[arc.source]
        begins = arc.source == 0 and arc.kind in TAKING and not self.returns
        # An event that affects a run ends it where it takes no arc: so to affect it, it must have the value.
        guards = (state.theta,) if state.stay is Stay.FAILING and not begins else (arc.guard, arc.rest)
        equal = [pair for form in guards for pair in _equal(form)]
        found = {self.keys[self._stream(arc)]} if begins or self.parted else set()
        found |= {join.position for join in arc.joins if (join.register.slot, join.register.position) in held}
        for position, other in equal:
            if isinstance(other, Register) and (other.slot, other.position) in held:
                found.add(position)
            elif isinstance(other, Constant) and other in self.constants:
                found.add(position)
        same = [{position, other.position} for position, other in equal if isinstance(other, Attribute)]
        for _ in same:
            for pair in same:
                if pair & found:
                    found |= pair
        return found

    def _after(self, arc: Arc, held: set[Read]) -> set[Read]:
        """The registers that have the value once a run has followed an arc."""
        takes = arc.kind in TAKING
        own = self._having(arc, held) if takes else set()
        found = {(LAST, position) for position in own} if takes else {read for read in held if read[0] == LAST}
        for slot, source in enumerate(arc.update):
            match source:
                case EventRow():
                    found |= {(slot, position) for position in own}
                case BoundRow():
                    found |= {(slot, position) for before, position in held if before == LAST}
                case Carry(before):
                    found |= {(slot, position) for other, position in held if other == before}
                case Computed(Attribute(Side.EVENT, position)) if position in own:
                    found.add((slot, -1))
                case Computed(Register(before, position)) if (before, position) in held:
                    found.add((slot, -1))
        return found


def _equal(form: Form) -> list[tuple[int, Attribute | Register | Constant]]:
    """What a form demands to be equal to attributes of the event, by position."""
    found: list[tuple[int, Attribute | Register | Constant]] = []
    for atom in form[0] if form else ():
        match atom:
            case Comparison("=", Attribute(Side.EVENT, position), (Attribute() | Register() | Constant()) as other):
                if all(atom in clause for clause in form):
                    found.append((position, other))
    return found
