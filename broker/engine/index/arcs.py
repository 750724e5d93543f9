"""The index over guards: finds the arcs that an event satisfies (Cayuga 3.2; layout notes, 3).

It has two uses: the start arcs of a cell, and the arcs out of a place, where a run's registers are known too. Each
clause of a guard is filed under its most selective atom, its pivot, and the rest of the clause is tested on the
candidates. An equality with a constant is filed under a hash, a prefix under a hash by length, a range in columns
sorted by its lower end with the greatest upper end of each block, a scaled register (`price > k * first.price`) sorted
by k, a substring by its rarest piece of three characters. A guard of several clauses is filed under each, and found
once.

Here: filing and finding. Not here: equalities that a key space tests (spaces), thresholds that distinguish the states
of a family (family).
"""

from __future__ import annotations

from typing import Final, Generic, TypeVar, final

from ...algebra.computation import Slots
from ...algebra.normal_form import Clause, Form
from ...algebra.predicate import All, SharedPredicate, condition, conjunction, holds
from ...algebra.terms import Attribute, Comparison, Constant, Function, Side
from ...events.schema import Row, Value
from .ranges import Interval, Ranges, interval_of
from .scaled import Scaled, ScaledKey, scaled_of
from .substrings import Prefixes, Substrings

TAIL_MIN: Final = 4  # arcs added since the last filing and tried one by one, and an eighth of the filed ones,
TAIL_MAX: Final = 64  # but never more than these


class Guarded:
    """An entry of an index. `form` is its condition on an event, `guard` the same ready to run.

    The index itself sets `serial` and `removed`.
    """

    def __init__(self, form: Form) -> None:
        self.form = form
        self.guard: All | None = condition(form)
        self.serial = 0
        self.removed = False


A = TypeVar("A", bound=Guarded)


@final
class ArcIndex(Generic[A]):
    """`arcs` is the truth. The columns are made from it at the first probe, and again after enough changes.

    So bulk loading is linear, and one more arc costs a list entry. Up to `few` arcs are tried one by one.
    """

    def __init__(self, few: int) -> None:
        self.few = few
        self.arcs: list[A] = []
        self._columns: Columns[A] | None = None
        self._filed = 0  # arcs before this are in the columns
        self._gone = 0  # removed arcs among these
        self._serial = 0

    def __len__(self) -> int:
        return len(self.arcs)

    def add(self, arc: A) -> None:
        arc.removed = False
        self.arcs.append(arc)

    def remove(self, arc: A) -> None:
        """Remove an arc. O(arcs) list work; no filing until a quarter is gone."""
        at = self.arcs.index(arc)
        del self.arcs[at]
        arc.removed = True
        if at < self._filed:
            self._filed -= 1
            self._gone += 1

    def satisfied(self, row: Row, bound: Row, slots: Slots, length: int, span: int) -> list[A]:
        """The arcs whose guard holds, each once. O(log arcs + candidates) if the pivots are selective."""
        arcs = self.arcs
        if len(arcs) <= self.few:
            return [a for a in arcs if a.guard is None or holds(a.guard, row, bound, slots, length, span)]
        tail = len(arcs) - self._filed
        columns = self._columns
        if columns is None or tail > min(TAIL_MIN + (self._filed >> 3), TAIL_MAX) or self._gone > (self._filed >> 2):
            columns = self._columns = Columns(arcs)
            self._filed, self._gone = len(arcs), 0
        self._serial += 1
        serial = self._serial
        found: list[A] = []
        for filed in columns.candidates(row, bound, slots):
            arc = filed.arc
            if arc.removed or (filed.shared and arc.serial == serial):
                continue
            if filed.rest is None or holds(filed.rest, row, bound, slots, length, span):
                arc.serial = serial
                found.append(arc)
        for filed in columns.plain:
            arc = filed.arc
            if not arc.removed and (filed.rest is None or holds(filed.rest, row, bound, slots, length, span)):
                found.append(arc)
        for i in range(self._filed, len(arcs)):
            arc = arcs[i]
            if arc.guard is None or holds(arc.guard, row, bound, slots, length, span):
                found.append(arc)
        return found

    def indexed(self) -> bool:
        """Whether columns find the arcs, instead of trying them one by one."""
        return len(self.arcs) > self.few

    def check_invariants(self) -> None:
        assert 0 <= self._filed <= len(self.arcs)
        assert not any(arc.removed for arc in self.arcs)


@final
class Columns(Generic[A]):
    """Arcs filed by their clauses' pivots; `plain` are those with a clause without pivot. O(arcs) to make.

    Arcs share the conditions left to test: an expensive predicate of the event alone, such as one with arithmetic or a
    function, is evaluated once for each event, however many arcs have it.
    """

    def __init__(self, arcs: list[A]) -> None:
        self.plain: list[Filed[A]] = []
        self._shared = SharedPredicate()
        self._ranges: list[Ranges[Filed[A]]] = []
        self._various = False  # whether any of the following is used
        self._equal: dict[int, dict[Value, list[Filed[A]]]] = {}
        self._scaled: dict[ScaledKey, Scaled[Filed[A]]] = {}
        self._prefixes: dict[int, Prefixes[Filed[A]]] = {}
        self._substrings: dict[int, Substrings[Filed[A]]] = {}
        for arc in arcs:
            pivots = [_pivot(clause) for clause in arc.form]
            if not pivots or any(pivot is None for pivot in pivots):
                filed = Filed(arc, False)
                filed.rest = condition(arc.form, self._shared)
                self.plain.append(filed)
                continue
            for clause, pivot in zip(arc.form, pivots, strict=True):
                if pivot is not None:
                    self._put(Filed(arc, len(pivots) > 1), clause, pivot)

    def candidates(self, row: Row, bound: Row, slots: Slots) -> list[Filed[A]]:
        """The clauses whose pivot holds."""
        found: list[Filed[A]] = []
        for ranges in self._ranges:
            ranges.find(row, found)
        if self._various:
            for position, by_value in self._equal.items():
                found += by_value.get(row[position], ())
            for scaled in self._scaled.values():
                scaled.find(row, bound, slots, found)
            for prefixes in self._prefixes.values():
                prefixes.find(row, found)
            for substrings in self._substrings.values():
                substrings.find(row, found)
        return found

    def _put(self, filed: Filed[A], clause: Clause, pivot: Comparison) -> None:
        rest = tuple(atom for atom in clause if atom is not pivot)
        interval = interval_of(clause)
        scaled = scaled_of(pivot)
        match pivot:
            case Comparison("=", Attribute(Side.EVENT, position), Constant(value, _)):
                self._equal.setdefault(position, {}).setdefault(value, []).append(filed)
            case Comparison("=", Function("starts_with", (Attribute(_, position), Constant(str() as part, _)), _)):
                self._prefixes.setdefault(position, Prefixes(position)).add(part, filed)
            case Comparison("=", Function("contains", (Attribute(_, position), Constant(str() as part, _)), _)):
                self._substrings.setdefault(position, Substrings(position)).add(part, filed)
            case _ if scaled is not None:
                self._scaled.setdefault(scaled.key, Scaled(scaled.key)).add(scaled.factor, filed)
            case _:
                assert interval is not None
                filed.rest = conjunction(interval.rest, self._shared)
                self._ranges_for(interval).add(interval, filed)
                return
        self._various = True
        filed.rest = conjunction(rest, self._shared)

    def _ranges_for(self, interval: Interval) -> Ranges[Filed[A]]:
        for ranges in self._ranges:
            if (ranges.position, ranges.second) == (interval.position, interval.second):
                return ranges
        ranges = Ranges[Filed[A]](interval.position, interval.second)
        self._ranges.append(ranges)
        return ranges


@final
class Filed(Generic[A]):
    """One clause of an arc in the columns; `rest` is left to test, `shared`: the arc has more clauses."""

    __slots__ = ("arc", "rest", "shared")

    def __init__(self, arc: A, shared: bool) -> None:
        self.arc = arc
        self.shared = shared
        self.rest: All | None = None


def _pivot(clause: Clause) -> Comparison | None:
    """The atom under which a clause is filed: the kind that usually lets the fewest events through."""
    best: Comparison | None = None
    best_rank = 9
    for atom in clause:
        rank = _rank(atom, clause)
        if rank < best_rank:
            best, best_rank = atom, rank
    return best


def _rank(atom: Comparison, clause: Clause) -> int:
    match atom:
        case Comparison("=", Attribute(Side.EVENT), Constant()):
            return 0
        case Comparison("=", Function("starts_with", (Attribute(Side.EVENT), Constant()), _), Constant(True, _)):
            return 1
        case Comparison("=", Function("contains", (Attribute(Side.EVENT), Constant()), _), Constant(True, _)):
            return 3
        case _ if (interval := interval_of(clause)) is not None and interval.holds(atom):
            return 2 if interval.two_sided else 5
        case _ if scaled_of(atom) is not None:
            return 4
        case _:
            return 9
