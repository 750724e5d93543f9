"""window: a bound on the time from the first event of a match to its last one, which every way has, is WITHIN.

It is an `@` of P-ToPSS or a condition of SASE+ such as `b.time - a.time < 5 min`, in any writing; beside a WITHIN the
closer one counts. Sound for matches: times do not decrease and operands come in order, so that a run older than the
bound has no match; WITHIN only ends it earlier. Each way must be bounded from its own first event, which parts of an
AND make different ones. What any two events of a match are then asked, if it is no closer, goes, and so does that the
later one is not the earlier one.

Not beside what is forbidden at the start, nor where a match waits for time: there WITHIN has a meaning of its own. A
bound of 0 stays, as nobody can write it as WITHIN. The tree of machines keeps the conditions as they were written.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

from ...algebra.normal_form import ALWAYS, Form, reordered
from ...algebra.terms import Attribute, Comparison, Register, Term, walk
from ...language.literal_orders import at_most, equal, total
from ...language.wording import with_durations
from ..automaton import TAKING, Arc, Automaton, Carry, Elapsed, EventTime, Kind
from .facts import Facts, common
from .moments import Apart, apart, first_values, row_streams, time_read
from .rule import Rewritten
from .unread import renumbered

COUNTED_MAX: Final = 64  # more events between two are not counted


def window(automaton: Automaton, facts: Facts) -> Rewritten:
    """
    >>> shown(window, ptopss("FROM Stock a: price > 1.0 b: price > 2.0 MATCH a; b @(t(b) - t(a) <= 5 s)"))
    ['price > 1.0', 'price > 2.0', 'WITHIN 5 s']
    >>> shown(window, sase("PATTERN SEQ(Stock a, Stock b) WHERE skip_till_next_match(a, b) { b.time - a.time < 5 s }"))
    ['WITHIN 4999999 us']
    """
    if not any(arc.elapsed for arc in automaton.arcs) and not any(source.timed for source in automaton.sources):
        return automaton, 0
    if any(arc.kind is Kind.TIMEOUT or (arc.kind is Kind.KILL and arc.source == 0) for arc in automaton.arcs):
        return automaton, 0
    bounds = _Bounds(automaton, facts)
    within = bounds.of_matches()
    if within is None or (automaton.within is not None and at_most(automaton.within, within)):
        within = automaton.within
    found = bounds.without_implied(within)
    return (found, 1) if found != automaton else (automaton, 0)


class _Bounds:
    """What arcs ask of times. `ways`: by state, the registers with the time of the first event; `steps`: how many
    events came before."""

    def __init__(self, automaton: Automaton, facts: Facts) -> None:
        self.automaton = automaton
        self.facts = facts
        self.ways = first_values(automaton, lambda arc: time_read(facts, arc))
        self.rows = row_streams(facts)
        self.steps = _steps(automaton)

    def of_matches(self) -> Any:
        """The bound that all matches have; None if some have none, or another one."""
        ending = _ending(self.automaton)
        found = [self._of_arc(arc) for arc in ending]
        if not found or any(each is None or not equal(each, found[0]) for each in found):
            return None
        return found[0] if found[0] == self.automaton.within or at_most(1, found[0]) else None

    def _of_arc(self, arc: Arc) -> Any:
        """The bound that an arc sets between its event and the first one, whichever that is; None if there is none."""
        counted = [each.allowed[0][1] for each in arc.elapsed if each.slot < 0 and self._from_first(arc, each)]
        measured: list[tuple[Term, Any]] = [
            (Register(each.slot, -1, "int"), each.allowed[0][1]) for each in arc.elapsed if _is_bound(each)
        ]
        measured += [(term, high) for atom in common(arc.rest) for term, high in self._asked(arc, atom)]
        widest = None
        for way in self.ways[arc.source]:
            closest = _least([*counted, *[high for term, high in measured if term in way]])
            if closest is None or (widest is not None and not equal(closest, widest)):
                return None
            widest = closest
        return widest

    def _from_first(self, arc: Arc, condition: Elapsed) -> bool:
        return _is_bound(condition) and self.steps[arc.source] == {-condition.slot}

    def _asked(self, arc: Arc, atom: Comparison) -> list[tuple[Term, Any]]:
        """The earlier time, and by how much that of the event may be later, if that is all that an atom asks."""
        found = self._apart(arc, atom)
        if found is None or found.operator not in ("<", "<="):
            return []
        distance = found.distance.value
        return [(found.earlier, total(distance, -1) if found.operator == "<" else distance)]

    def _apart(self, arc: Arc, atom: Comparison) -> Apart | None:
        if arc.kind not in TAKING or not self._is_time(arc, atom.left, atom.right):
            return None
        return apart(atom, lambda term: isinstance(term, Attribute))

    def _follows(self, arc: Arc, atom: Comparison, within: Any) -> bool:
        """Whether any two events of a match satisfy an atom."""
        found = self._apart(arc, atom)
        if found is None or found.operator not in ("<", "<=", ">", ">="):
            return False
        if found.operator in (">", ">="):
            return at_most(found.distance.value, -1 if found.operator == ">" else 0)
        return within is not None and any(at_most(within, high) for _, high in self._asked(arc, atom))

    def _is_time(self, arc: Arc, *terms: Term) -> bool:
        """Whether terms read nothing but times."""
        own = time_read(self.facts, arc)
        for part in [part for term in terms for part in walk(term)]:
            if isinstance(part, Register):
                streams = self.rows[arc.source].get(part.slot, set())
                if not streams or any(self.facts.time_of(stream) != part.position for stream in streams):
                    return False
            elif isinstance(part, Attribute) and part not in own:
                return False
        return True

    def without_implied(self, within: Any) -> Automaton:
        """The automaton with this WITHIN, if it is any, and without what follows from it."""
        automaton = self.automaton

        def left(arc: Arc, form: Form) -> Form:
            if form == ALWAYS:
                return form
            kept = tuple([tuple([a for a in clause if not self._follows(arc, a, within)]) for clause in form])
            return form if kept == form else reordered(kept)

        arcs = [arc if (rest := left(arc, arc.rest)) is arc.rest else replace(arc, rest=rest) for arc in automaton.arcs]
        found = replace(automaton, arcs=tuple(arcs), within=within)
        elapsed = [each for arc in arcs for each in arc.elapsed]
        if within is None or all(each.allowed == ((0, within),) and each.since <= 0 for each in elapsed):
            return found
        if not all(_is_bound(each) and at_most(within, each.allowed[0][1]) for each in elapsed):
            return found
        return _measured_once(found, within)


def _is_bound(condition: Elapsed) -> bool:
    return len(condition.allowed) == 1 and condition.allowed[0][0] == 0


def _least(bounds: list[Any]) -> Any:
    found = None
    for bound in bounds:
        if found is None or not at_most(found, bound):
            found = bound
    return found


def _ending(automaton: Automaton) -> list[Arc]:
    """The arcs that take the last event of a match."""
    complete, leaving = {automaton.final}, [a for a in automaton.arcs if a.kind is Kind.EPSILON and not a.peeks]
    for _ in automaton.states:
        complete |= {arc.source for arc in leaving if arc.target in complete}
    return [arc for arc in automaton.arcs if arc.kind in TAKING and arc.target in complete]


def _steps(automaton: Automaton) -> list[set[int]]:
    found: list[set[int]] = [set() for _ in range(automaton.final)]
    found[0] = {0}
    waiting = [0]
    while waiting:
        source = waiting.pop()
        for arc in automaton.arcs:
            if arc.source == source and arc.target < automaton.final and arc.kind is not Kind.KILL:
                more = {min(COUNTED_MAX, count + (arc.kind in TAKING)) for count in found[source]}
                if not more <= found[arc.target]:
                    found[arc.target] |= more
                    waiting.append(arc.target)
    return found


def _measured_once(automaton: Automaton, within: Any) -> Automaton:
    """The automaton that measures times from the first event only, at the last one, as that of a WITHIN does: the first
    slot of each state is for that time, others for values."""
    times: list[set[int]] = [set() for _ in range(automaton.final)]
    for arc in automaton.arcs:
        for slot, source in enumerate(arc.update):
            carried = isinstance(source, Carry) and source.slot in times[arc.source]
            if isinstance(source, EventTime) or carried:
                times[arc.target].add(slot)
    numbers = [
        {slot: number for number, slot in enumerate([slot for slot in range(slots) if slot not in own], 1)}
        for own, slots in zip(times, _slots(automaton))
    ]
    found = renumbered(automaton, numbers)
    said = with_durations([("WITHIN ", within)])
    arcs = []
    for arc in found.arcs:
        if arc.target == found.final:
            arc = replace(arc, elapsed=(Elapsed(0, ((0, within),), said),) if arc.source else ())
        else:
            arc = replace(arc, update=(Carry(0) if arc.source else EventTime(), *arc.update), elapsed=())
        arcs.append(arc)
    return replace(found, arcs=tuple(arcs))


def _slots(automaton: Automaton) -> list[int]:
    """By state the number of its slots."""
    found = [0] * automaton.final
    for arc in automaton.arcs:
        if arc.target < automaton.final:
            found[arc.target] = len(arc.update)
    return found
